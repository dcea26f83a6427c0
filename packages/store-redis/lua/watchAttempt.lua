-- watchAttempt: whether an attempt stands, and if so, that an instance wants to hear when it no longer does.
-- KEYS run  hash
-- KEYS watchers  set of instance ids
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV epoch  of the attempt
-- ARGV instance  instance id
-- ARGV keptMs  ms until the wish is forgotten; the instance looks again before
-- STANDS now leaseUntil: it is queued or has a live lease and is not stopped; leaseUntil is empty when queued
-- GONE now: it does not
-- writes watchers with STANDS, else nothing
local run, watchers = unpack(KEYS)
local clock, epoch, instance, keptMs = unpack(ARGV, 1, 4)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', run, 'epoch', 'leaseUntil', 'queued', 'stopping')
local isLive = stands[3] or (stands[2] and tonumber(stands[2]) > now)
if stands[1] ~= epoch or stands[4] or not isLive then return { 'GONE', now } end

redis.call('SADD', watchers, instance)
redis.call('PEXPIRE', watchers, keptMs)
return { 'STANDS', now, stands[2] or '' }
