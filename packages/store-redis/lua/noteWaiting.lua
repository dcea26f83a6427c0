-- noteWaiting: what a caller's run holds while it waits, or that it waits no more; a hint that readers check.
-- KEYS waiting  hash, run id to bytes, and their sum under #bytes
-- ARGV runId  text
-- ARGV bytes  whole number; empty: the run waits no more
-- ARGV keptMs  ms
-- OK: noted
-- writes waiting
local waiting = unpack(KEYS)
local runId, bytes, keptMs = unpack(ARGV, 1, 3)

local before = redis.call('HGET', waiting, runId) or 0
if bytes == '' then
  if redis.call('HDEL', waiting, runId) == 0 then return { 'OK' } end
  if redis.call('HLEN', waiting) <= 1 then redis.call('DEL', waiting) return { 'OK' } end
  redis.call('HINCRBY', waiting, '#bytes', -before)
  return { 'OK' }
end
redis.call('HSET', waiting, runId, bytes)
redis.call('HINCRBY', waiting, '#bytes', bytes - before)
redis.call('PEXPIRE', waiting, keptMs, 'NX')
redis.call('PEXPIRE', waiting, keptMs, 'GT')
return { 'OK' }
