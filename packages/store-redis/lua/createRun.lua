-- createRun: makes a run without a key durable for the first time.
-- KEYS run  hash
-- KEYS journal  list of entries
-- KEYS waiters  hash, request id to instance id
-- KEYS due  sorted set, run id by the time to look at it
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV runId  text
-- ARGV revision  the first one, drawn: no write that was decided on an earlier run of this name may hold
-- ARGV origin  JSON
-- ARGV head  JSON
-- ARGV keptUntil  epoch ms
-- ARGV due  epoch ms; empty: the end of the lease
-- ARGV epoch  of the attempt that goes on; empty: the round ends with the creation
-- ARGV leaseMs  ms; empty: nobody holds it
-- ARGV holder  instance id of the attempt's process
-- ARGV stoppable  1 or empty
-- ARGV waiterId  text; empty: nobody waits
-- REST entries  JSON, one each
-- OK now: written
-- CONFLICT now: the run exists
-- writes run, journal, waiters and due with OK, else nothing
local run, journal, waiters, dueIndex = unpack(KEYS)
local clock, runId, revision, origin, head, keptUntil, due, epoch, leaseMs, holder, stoppable,
  waiterId = unpack(ARGV, 1, 12)
local firstEntry = 13

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
if redis.call('EXISTS', run) == 1 then return { 'CONFLICT', now } end

local keptMs = keptUntil - now
redis.call('HSET', run, 'origin', origin, 'head', head, 'revision', revision)
if epoch ~= '' then
  redis.call('HSET', run, 'epoch', epoch)
  if stoppable == '1' then redis.call('HSET', run, 'stoppable', 1) end
end
if leaseMs ~= '' then
  due = now + leaseMs
  redis.call('HSET', run, 'leaseUntil', due, 'holder', holder)
end
redis.call('PEXPIRE', run, keptMs)
for first = firstEntry, #ARGV, 1000 do
  redis.call('RPUSH', journal, unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
if #ARGV >= firstEntry then redis.call('PEXPIRE', journal, keptMs) end
if epoch ~= '' and waiterId ~= '' then
  redis.call('HSET', waiters, waiterId, holder)
  redis.call('PEXPIRE', waiters, keptMs)
end
redis.call('ZADD', dueIndex, due, runId)
redis.call('PEXPIRE', dueIndex, keptMs, 'NX')
redis.call('PEXPIRE', dueIndex, keptMs, 'GT')
return { 'OK', now }
