-- createKeyedRun: a first call's run and the idempotency record that leads to it.
-- KEYS run  hash
-- KEYS waiters  hash, request id to instance id
-- KEYS due  sorted set, run id by the time to look at it
-- KEYS idempotency  string, id of the run that the key leads to
-- KEYS previous  hash of the run that the key led to; unused without one
-- KEYS previousJournal  list of that run's entries
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV runId  text
-- ARGV revision  the first one, drawn: no write that was decided on an earlier run of this name may hold
-- ARGV origin  JSON
-- ARGV head  JSON
-- ARGV keptUntil  epoch ms
-- ARGV due  epoch ms; empty: the end of the lease
-- ARGV leaseMs  ms; empty: the attempt waits for a worker
-- ARGV holder  instance id of the claimant
-- ARGV waiterId  text
-- ARGV previousId  what the idempotency record holds; empty: there is none
-- ARGV previousRevision  of the previous run
-- ARGV previousHead  JSON, when the previous run gives way; else empty
-- OK now: written
-- CONFLICT now leadsTo: something else stands there; leadsTo is what the idempotency record holds, or empty
-- writes run, waiters, due, idempotency and perhaps previous with OK, else nothing
local run, waiters, dueIndex, idempotency, previous, previousJournal = unpack(KEYS)
local clock, runId, revision, origin, head, keptUntil, due, leaseMs, holder, waiterId,
  previousId, previousRevision, previousHead = unpack(ARGV, 1, 13)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local leadsTo = redis.call('GET', idempotency) or ''
if leadsTo ~= previousId or redis.call('EXISTS', run) == 1 then return { 'CONFLICT', now, leadsTo } end
if previousId ~= '' and redis.call('HGET', previous, 'revision') ~= previousRevision then
  return { 'CONFLICT', now, leadsTo }
end

local keptMs = keptUntil - now
redis.call('HSET', run, 'origin', origin, 'head', head, 'revision', revision)
redis.call('HSET', run, 'epoch', 1, 'stoppable', 1)
if leaseMs ~= '' then
  due = now + leaseMs
  redis.call('HSET', run, 'leaseUntil', due, 'holder', holder)
else
  redis.call('HSET', run, 'queued', 1)
end
redis.call('PEXPIRE', run, keptMs)
redis.call('HSET', waiters, waiterId, holder)
redis.call('PEXPIRE', waiters, keptMs)
redis.call('SET', idempotency, runId, 'PX', keptMs)
if previousHead ~= '' then
  redis.call('HSET', previous, 'head', previousHead, 'revision', previousRevision + 1)
  redis.call('PEXPIRE', previous, keptMs, 'GT')
  redis.call('PEXPIRE', previousJournal, keptMs, 'GT')
end
redis.call('ZADD', dueIndex, due, runId)
redis.call('PEXPIRE', dueIndex, keptMs, 'NX')
redis.call('PEXPIRE', dueIndex, keptMs, 'GT')
return { 'OK', now }
