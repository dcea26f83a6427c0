-- publishRingKeys: adds keys to the key ring, never over a tombstone or another text of the same kid.
-- KEYS keys  hash, kid to text of the key
-- KEYS tombstones  hash, kid to text of the tombstone
-- KEYS ends  sorted set, kid by the epoch ms from which on the ring may drop it
-- KEYS facts  hash of version, born and rotateBefore (epoch ms)
-- ARGV entries  JSON: list of [kid, text, end in epoch ms]
-- ARGV channel  on which a change is announced
-- ARGV sender  who announces it
-- PUBLISHED kids: each entry is in the ring, but those of the kids in this list, which have a tombstone
-- writes keys and ends of what is new, then facts, the expiry of all and the notice; drops what has ended
local keys, tombstones, ends, facts = unpack(KEYS)
local entries, channel, sender = unpack(ARGV, 1, 3)
entries = cjson.decode(entries)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, kid in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do
  redis.call('HDEL', keys, kid)
  redis.call('HDEL', tombstones, kid)
  redis.call('ZREM', ends, kid)
end

local refused, added = {}, false
for _, entry in ipairs(entries) do
  local kid, text, endsAt = unpack(entry)
  if redis.call('HEXISTS', tombstones, kid) == 1 then
    refused[#refused + 1] = kid
  elseif redis.call('HSETNX', keys, kid, text) == 1 then
    redis.call('ZADD', ends, endsAt, kid)
    added = true
  end
end

if added then
  redis.call('HSETNX', facts, 'born', now)
  -- The time, not a count: a replica that lacked the last change would give that one's number to another.
  redis.call('HSET', facts, 'version', table.concat({ time[1], time[2], redis.call('ZCARD', ends) }, '-'))
  local newest = redis.call('ZRANGE', ends, 0, 0, 'REV', 'WITHSCORES')
  local keptUntil = math.max(newest[2], now + 86400000)
  for _, key in ipairs(KEYS) do redis.call('PEXPIREAT', key, keptUntil) end
  redis.call('PUBLISH', channel, sender)
end
return { 'PUBLISHED', refused }
