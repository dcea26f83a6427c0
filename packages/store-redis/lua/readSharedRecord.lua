-- readSharedRecord: a shared record as it stands.
-- KEYS record  hash
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- RECORD revision value: it stands
-- NONE: there is none, or it was removed or has expired
-- writes nothing
local record = unpack(KEYS)
local clock = unpack(ARGV, 1, 1)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', record, 'revision', 'value', 'expiresAt')
if not stands[2] or tonumber(stands[3]) <= now then return { 'NONE' } end
return { 'RECORD', stands[1], stands[2] }
