-- readLog: a part of a shared log.
-- KEYS log  hash
-- KEYS items  list of JSON or wrapped texts, the newest last
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV after  number of the item after which to begin
-- ARGV limit  how many items at most
-- PART last first texts: number of the newest item, number of the first of these texts, the texts; last is 0 without a log
-- writes nothing
local log, list = unpack(KEYS)
local clock, after, limit = unpack(ARGV, 1, 3)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', log, 'last', 'expiresAt')
if not stands[1] or tonumber(stands[2]) <= now then return { 'PART', 0, 1, {} } end
local last = tonumber(stands[1])
local oldest = last - redis.call('LLEN', list) + 1
local first = math.max(after + 1, oldest)
local texts = redis.call('LRANGE', list, first - oldest, first - oldest + limit - 1)
return { 'PART', last, first, texts }
