-- requestKeyRotation: asks the owner of every key in the ring that is older than now for a new one.
-- KEYS facts  hash of version, born and rotateBefore (epoch ms)
-- ARGV channel  on which the request is announced
-- ARGV sender  who announces it
-- REQUESTED now: the time of the request
-- writes facts, with an expiry if they have none, and the notice
local facts = unpack(KEYS)
local channel, sender = unpack(ARGV, 1, 2)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSETNX', facts, 'born', now)
local version = table.concat({ time[1], time[2], 'rotate' }, '-')
redis.call('HSET', facts, 'rotateBefore', now, 'version', version)
if redis.call('PTTL', facts) < 0 then redis.call('PEXPIREAT', facts, now + 86400000) end
redis.call('PUBLISH', channel, sender)
return { 'REQUESTED', now }
