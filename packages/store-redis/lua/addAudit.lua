-- addAudit: adds an action to the audit log, at a time that no other has.
-- KEYS audit  sorted set: `<time> <action>` by time
-- ARGV at  epoch ms
-- ARGV text  JSON or wrapped
-- ARGV since  epoch ms: what is older has had its time
-- ARGV keptMs  ms
-- OK at: the time that it was given
-- writes audit and its expiry
local audit = unpack(KEYS)
local at, text, since, keptMs = unpack(ARGV, 1, 4)

at = tonumber(at)
while redis.call('ZCOUNT', audit, at, at) > 0 do at = at + 1 end
local member = string.format('%.0f %s', at, text)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', audit, '-inf', '(' .. since, 'LIMIT', 0, 20)) do
  redis.call('ZREM', audit, old)
end
redis.call('ZADD', audit, at, member)
redis.call('PEXPIRE', audit, keptMs)
return { 'OK', string.format('%.0f', at) }
