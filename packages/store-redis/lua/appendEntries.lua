-- appendEntries: what an attempt records while it goes on, and the renewal of its lease.
-- KEYS run  hash
-- KEYS journal  list of entries
-- KEYS waiters  hash, request id to instance id
-- KEYS due  sorted set, run id by the time to look at it
-- KEYS idempotency  string; unused by a run without a key
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV runId  text
-- ARGV revision  that the attempt's process wrote last
-- ARGV head  JSON
-- ARGV leaseMs  ms
-- ARGV keptUntil  epoch ms; empty: what is set is late enough
-- ARGV renewal  1 to move the run in the due index, else empty
-- REST entries  JSON, one each
-- OK now stopping: written; stopping is 1 once the attempt's stop is final, else 0
-- CONFLICT now: another revision stands there
-- writes run and journal, with renewal due, with keptUntil the expiry of all; nothing with CONFLICT
local run, journal, waiters, dueIndex, idempotency = unpack(KEYS)
local clock, runId, revision, head, leaseMs, keptUntil, renewal = unpack(ARGV, 1, 7)
local firstEntry = 8

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local stands = redis.call('HMGET', run, 'revision', 'stopping')
if stands[1] ~= revision then return { 'CONFLICT', now } end

local leaseUntil = now + leaseMs
redis.call('HSET', run, 'head', head, 'revision', revision + 1, 'leaseUntil', leaseUntil)
for first = firstEntry, #ARGV, 1000 do
  redis.call('RPUSH', journal, unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
if renewal == '1' then redis.call('ZADD', dueIndex, leaseUntil, runId) end
if keptUntil ~= '' then
  local keptMs = keptUntil - now
  for _, key in ipairs({ run, journal, waiters, idempotency }) do
    redis.call('PEXPIRE', key, keptMs)
  end
  redis.call('PEXPIRE', dueIndex, keptMs, 'GT')
end
return { 'OK', now, stands[2] and 1 or 0 }
