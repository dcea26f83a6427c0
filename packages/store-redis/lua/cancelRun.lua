-- cancelRun: ends a run that is no longer wanted, or leaves it to be undone, and tells whoever executes it or waits for it.
-- KEYS run  hash
-- KEYS journal  list of entries
-- KEYS waiters  hash, request id to instance id
-- KEYS watchers  set of instance ids that want to hear of the attempt
-- KEYS due  sorted set, run id by the time to look at it
-- KEYS idempotency  string; unused by a run without a key
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV runId  text
-- ARGV revision  that the decision was made on
-- ARGV head  JSON
-- ARGV keptUntil  epoch ms
-- ARGV due  epoch ms
-- ARGV epoch  of a run that is to be undone; else empty
-- ARGV keepsLease  1 if nobody is given that run before the lease of its attempt is over; else empty
-- ARGV channels  how the channels of instances start
-- ARGV news  what to publish to watchers
-- ARGV stop  what to publish to the attempt's process
-- OK now: written
-- CONFLICT now: another revision stands there
-- writes run, due and all expiries, deletes waiters and watchers; nothing with CONFLICT
local run, journal, waiters, watchers, dueIndex, idempotency = unpack(KEYS)
local clock, runId, revision, head, keptUntil, due, epoch, keepsLease, channels, news, stop =
  unpack(ARGV, 1, 11)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', run, 'revision', 'holder')
if stands[1] ~= revision then return { 'CONFLICT', now } end

local keptMs = keptUntil - now
redis.call('HSET', run, 'head', head, 'revision', revision + 1)
redis.call('HDEL', run, 'queued', 'stopping', 'stoppable')
if epoch == '' then redis.call('HDEL', run, 'epoch') else redis.call('HSET', run, 'epoch', epoch) end
if keepsLease ~= '1' then redis.call('HDEL', run, 'leaseUntil', 'holder') end
redis.call('DEL', waiters)
for _, key in ipairs({ run, journal, idempotency }) do redis.call('PEXPIRE', key, keptMs) end
redis.call('ZADD', dueIndex, due, runId)
redis.call('PEXPIRE', dueIndex, keptMs, 'GT')
if stands[2] then redis.call('PUBLISH', channels .. stands[2], stop) end
for _, instance in ipairs(redis.call('SMEMBERS', watchers)) do
  redis.call('PUBLISH', channels .. instance, news)
end
redis.call('DEL', watchers)
return { 'OK', now }
