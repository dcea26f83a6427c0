-- leaveAttempt: a waiter's request is gone; the last one stops the attempt for good.
-- KEYS run  hash
-- KEYS waiters  hash, request id to instance id
-- KEYS watchers  set of instance ids that want to hear of the attempt
-- ARGV epoch  of the attempt
-- ARGV waiterId  text
-- ARGV channels  how the channels of instances start
-- ARGV news  what to publish to watchers
-- ARGV stop  what to publish to the attempt's process
-- OK stopping: left; stopping is 1 once the stop is final, else 0
-- GONE: no such attempt has the run
-- LAST: the last waiter of a queued attempt, which ends with it: nothing is written
-- writes waiters and, with the last one, run; deletes watchers then
local run, waiters, watchers = unpack(KEYS)
local epoch, waiterId, channels, news, stop = unpack(ARGV, 1, 5)

local stands = redis.call('HMGET', run, 'epoch', 'stopping', 'stoppable', 'queued', 'holder')
if stands[1] ~= epoch then return { 'GONE' } end
if stands[2] then return { 'OK', 1 } end
local left = redis.call('HLEN', waiters) - redis.call('HEXISTS', waiters, waiterId)
local stops = left == 0 and stands[3]
if stops and stands[4] then return { 'LAST' } end

redis.call('HDEL', waiters, waiterId)
if not stops then return { 'OK', 0 } end
redis.call('HSET', run, 'stopping', 1)
if stands[5] then redis.call('PUBLISH', channels .. stands[5], stop) end
for _, instance in ipairs(redis.call('SMEMBERS', watchers)) do
  redis.call('PUBLISH', channels .. instance, news)
end
redis.call('DEL', watchers)
return { 'OK', 1 }
