-- appendToLog: adds items to a shared log, which the first one makes, and drops the oldest ones.
-- KEYS log  hash
-- KEYS items  list of JSON or wrapped texts, the newest last
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV mark  drawn by the writer, so that the same append is known when it is sent again
-- ARGV expiresAt  epoch ms; a later one that is set stays
-- ARGV keep  how many items are kept
-- ARGV aheadMs  ms that the keys are kept beyond the expiry
-- REST items  JSON or wrapped, one each; none: a log that is there is extended and trimmed
-- APPENDED last: number of the newest item, or of this append's last one when it is sent again; 0: there is no log
-- writes log and items and their expiry; nothing when it is sent again, or without items where no log is
local log, list = unpack(KEYS)
local clock, mark, expiresAt, keep, aheadMs = unpack(ARGV, 1, 5)
local firstItem = 6

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', log, 'last', 'expiresAt', 'appends')
local last, keptUntil, appends = tonumber(stands[1] or 0), tonumber(stands[2] or 0), stands[3] or ''
if keptUntil <= now then
  if #ARGV < firstItem then return { 'APPENDED', 0 } end
  -- Not where nothing is: a script that has written is not refused any more for want of memory.
  if stands[1] then redis.call('DEL', log, list) end
  last, keptUntil, appends = 0, 0, ''
end
local known = string.match(appends, mark .. '=(%d+) ')
if known then return { 'APPENDED', tonumber(known) } end

for first = firstItem, #ARGV, 1000 do
  redis.call('RPUSH', list, unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
redis.call('LTRIM', list, -keep, -1)
last = last + #ARGV - firstItem + 1
keptUntil = math.max(keptUntil, expiresAt)
-- About the newest 16: as many may have come in while a lost reply made this one come again.
appends = string.sub(string.format('%s=%d ', mark, last) .. appends, 1, 400)
redis.call('HSET', log, 'last', last, 'expiresAt', keptUntil, 'appends', appends)
for _, key in ipairs({ log, list }) do redis.call('PEXPIRE', key, keptUntil - now + aheadMs) end
return { 'APPENDED', last }
