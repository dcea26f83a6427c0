-- putSharedRecord: makes a shared record, or writes over the revision that its writer has read.
-- KEYS record  hash
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV expected  revision that stands; empty: none does
-- ARGV revision  that it gets; drawn by the writer, so that the same write is known when it is sent again
-- ARGV value  JSON or wrapped
-- ARGV expiresAt  epoch ms
-- ARGV aheadMs  ms that the key is kept beyond it
-- WRITTEN: it stands as given, or did before it was written over since
-- CONFLICT: another revision stands there
-- writes record and its expiry; nothing with CONFLICT, nor when it is sent again
local record = unpack(KEYS)
local clock, expected, revision, value, expiresAt, aheadMs = unpack(ARGV, 1, 6)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', record, 'revision', 'value', 'expiresAt', 'writes')
local writes = stands[4] or ''
if string.find(writes, revision, 1, true) then return { 'WRITTEN' } end
local isThere = stands[2] and tonumber(stands[3]) > now
if (isThere and stands[1] or '') ~= expected then return { 'CONFLICT' } end

-- The newest 8: as many others may have written while a lost reply made this one come again.
writes = string.sub(revision .. ' ' .. writes, 1, 8 * (#revision + 1))
redis.call('HSET', record, 'revision', revision, 'value', value, 'expiresAt', expiresAt, 'writes', writes)
redis.call('PEXPIRE', record, expiresAt - now + aheadMs)
return { 'WRITTEN' }
