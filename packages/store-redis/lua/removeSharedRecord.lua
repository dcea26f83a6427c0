-- removeSharedRecord: takes the value from a shared record, if the revision stands that its remover has read.
-- KEYS record  hash
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV expected  revision that stands
-- ARGV mark  drawn by the remover, so that the same removal is known when it is sent again
-- ARGV keptMs  ms that it is known for
-- REMOVED: it is, or was before another was made since
-- CONFLICT: another revision stands there, or none
-- writes what is left of record and its expiry; nothing with CONFLICT, nor when it is sent again
local record = unpack(KEYS)
local clock, expected, mark, keptMs = unpack(ARGV, 1, 4)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', record, 'revision', 'value', 'expiresAt', 'writes')
local writes = stands[4] or ''
if string.find(writes, mark, 1, true) then return { 'REMOVED' } end
local isThere = stands[2] and tonumber(stands[3]) > now
if not isThere or stands[1] ~= expected then return { 'CONFLICT' } end

redis.call('HDEL', record, 'revision', 'value', 'expiresAt')
redis.call('HSET', record, 'writes', string.sub(mark .. ' ' .. writes, 1, 8 * (#mark + 1)))
redis.call('PEXPIRE', record, keptMs)
return { 'REMOVED' }
