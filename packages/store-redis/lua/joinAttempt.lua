-- joinAttempt: a request waits for a live or queued attempt.
-- KEYS run  hash
-- KEYS waiters  hash, request id to instance id
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV epoch  of the attempt
-- ARGV waiterId  text
-- ARGV holder  instance id of the request's process
-- OK now: it is a waiter
-- CONFLICT now: the attempt is over, stopped, or its lease is over
-- writes waiters with OK, else nothing
local run, waiters = unpack(KEYS)
local clock, epoch, waiterId, holder = unpack(ARGV, 1, 4)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', run, 'epoch', 'leaseUntil', 'queued', 'stopping')
local isLive = stands[3] or (stands[2] and tonumber(stands[2]) > now)
if stands[1] ~= epoch or stands[4] or not isLive then return { 'CONFLICT', now } end

redis.call('HSET', waiters, waiterId, holder)
redis.call('PEXPIRE', waiters, redis.call('PTTL', run))
return { 'OK', now }
