-- beatInstance: says that an instance lives, and forgets those that have said nothing for long.
-- KEYS instances  hash, instance id to what it says
-- KEYS seen  sorted set, instance id by its last time
-- ARGV instance  id
-- ARGV text  JSON or wrapped
-- ARGV seenAt  epoch ms
-- ARGV forgotten  epoch ms: whoever was seen then or earlier is forgotten
-- ARGV keptMs  ms
-- OK: it is known
-- writes both keys and their expiries
local instances, seen = unpack(KEYS)
local instance, text, seenAt, forgotten, keptMs = unpack(ARGV, 1, 5)

for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', forgotten, 'LIMIT', 0, 100)) do
  redis.call('HDEL', instances, gone)
  redis.call('ZREM', seen, gone)
end
redis.call('HSET', instances, instance, text)
redis.call('ZADD', seen, seenAt, instance)
redis.call('PEXPIRE', instances, keptMs)
redis.call('PEXPIRE', seen, keptMs)
return { 'OK' }
