-- giveAttempt: an attempt of a run that exists, to the claimant or to the queue, or again to whom it was given.
-- KEYS run  hash
-- KEYS journal  list of entries
-- KEYS waiters  hash, request id to instance id
-- KEYS watchers  set of instance ids that want to hear of the attempt
-- KEYS due  sorted set, run id by the time to look at it
-- KEYS idempotency  string, id of the run that the key leads to; unused by a run without a key
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV runId  text
-- ARGV revision  that the decision was made on
-- ARGV head  JSON
-- ARGV keptUntil  epoch ms
-- ARGV due  epoch ms; empty: the end of the lease
-- ARGV epoch  of the attempt
-- ARGV leaseMs  ms; empty: the attempt waits for a worker
-- ARGV holder  instance id of the claimant
-- ARGV stoppable  1 or empty
-- ARGV waiters  keep, none, or one (waiterId)
-- ARGV waiterId  text
-- ARGV again  1 when the attempt is the one that stands there; else only a lease that is over gives way
-- ARGV cutAt  entries to keep; empty: all
-- ARGV leadsHere  1 if the idempotency record must lead to this run, else empty
-- ARGV channels  how the channels of instances start
-- ARGV news  what to publish there
-- OK now: written
-- CONFLICT now: another revision stands there, its lease is not over, or the key leads elsewhere
-- writes run, waiters, due and all expiries, cuts journal, deletes watchers; nothing with CONFLICT
local run, journal, waiters, watchers, dueIndex, idempotency = unpack(KEYS)
local clock, runId, revision, head, keptUntil, due, epoch, leaseMs, holder, stoppable, keeps,
  waiterId, again, cutAt, leadsHere, channels, news = unpack(ARGV, 1, 17)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', run, 'revision', 'leaseUntil')
if stands[1] ~= revision then return { 'CONFLICT', now } end
if again ~= '1' and stands[2] and tonumber(stands[2]) > now then return { 'CONFLICT', now } end
if leadsHere == '1' and redis.call('GET', idempotency) ~= runId then return { 'CONFLICT', now } end

local keptMs = keptUntil - now
redis.call('HSET', run, 'head', head, 'revision', revision + 1, 'epoch', epoch)
redis.call('HDEL', run, 'leaseUntil', 'holder', 'queued', 'stoppable')
if again ~= '1' then redis.call('HDEL', run, 'stopping') end
if stoppable == '1' then redis.call('HSET', run, 'stoppable', 1) end
if leaseMs ~= '' then
  due = now + leaseMs
  redis.call('HSET', run, 'leaseUntil', due, 'holder', holder)
else
  redis.call('HSET', run, 'queued', 1)
end
if cutAt == '0' then redis.call('DEL', journal)
elseif cutAt ~= '' then redis.call('LTRIM', journal, 0, cutAt - 1) end
if keeps ~= 'keep' then redis.call('DEL', waiters) end
if keeps == 'one' then redis.call('HSET', waiters, waiterId, holder) end
for _, key in ipairs({ run, journal, waiters, idempotency }) do redis.call('PEXPIRE', key, keptMs) end
redis.call('ZADD', dueIndex, due, runId)
redis.call('PEXPIRE', dueIndex, keptMs, 'GT')
if again ~= '1' then
  for _, instance in ipairs(redis.call('SMEMBERS', watchers)) do
    redis.call('PUBLISH', channels .. instance, news)
  end
  redis.call('DEL', watchers)
end
return { 'OK', now }
