-- settleRun: leaves a run without an attempt: a round ends, is given back, interrupted, parked, or its question lives longer.
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
-- ARGV due  epoch ms
-- ARGV epoch  kept by a run that is given back; else empty
-- ARGV guard  dead: only if the lease is over; leads: only if the key leads here; sole: only if nobody but waiterId waits; empty: none
-- ARGV waiterId  text, for the guard
-- ARGV cutAt  entries to keep; empty: all
-- ARGV channels  how the channels of instances start
-- ARGV news  what to publish there
-- REST entries  JSON, one each
-- OK now: written
-- CONFLICT now: another revision stands there, or the guard does not hold
-- writes run, journal (cut first), due and all expiries, deletes waiters and watchers; nothing with CONFLICT
local run, journal, waiters, watchers, dueIndex, idempotency = unpack(KEYS)
local clock, runId, revision, head, keptUntil, due, epoch, guard, waiterId, cutAt, channels,
  news = unpack(ARGV, 1, 12)
local firstEntry = 13

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', run, 'revision', 'leaseUntil')
if stands[1] ~= revision then return { 'CONFLICT', now } end
if guard == 'dead' and stands[2] and tonumber(stands[2]) > now then return { 'CONFLICT', now } end
if guard == 'leads' and redis.call('GET', idempotency) ~= runId then return { 'CONFLICT', now } end
if guard == 'sole' then
  local others = redis.call('HLEN', waiters) - redis.call('HEXISTS', waiters, waiterId)
  if others > 0 then return { 'CONFLICT', now } end
end

local keptMs = keptUntil - now
redis.call('HSET', run, 'head', head, 'revision', revision + 1)
redis.call('HDEL', run, 'leaseUntil', 'holder', 'queued', 'stopping')
if epoch == '' then redis.call('HDEL', run, 'epoch', 'stoppable') end
if cutAt == '0' then redis.call('DEL', journal)
elseif cutAt ~= '' then redis.call('LTRIM', journal, 0, cutAt - 1) end
for first = firstEntry, #ARGV, 1000 do
  redis.call('RPUSH', journal, unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
redis.call('DEL', waiters)
for _, key in ipairs({ run, journal, idempotency }) do redis.call('PEXPIRE', key, keptMs) end
redis.call('ZADD', dueIndex, due, runId)
redis.call('PEXPIRE', dueIndex, keptMs, 'GT')
for _, instance in ipairs(redis.call('SMEMBERS', watchers)) do
  redis.call('PUBLISH', channels .. instance, news)
end
redis.call('DEL', watchers)
return { 'OK', now }
