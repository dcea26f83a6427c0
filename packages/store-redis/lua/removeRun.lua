-- removeRun: deletes what is left of an expired run, its place in the index included.
-- KEYS run  hash
-- KEYS journal  list of entries
-- KEYS waiters  hash, request id to instance id
-- KEYS watchers  set of instance ids
-- KEYS due  sorted set, run id by the time to look at it
-- KEYS idempotency  string, id of the run that the key leads to; unused by a run without a key
-- ARGV runId  text
-- ARGV revision  that the decision was made on; empty: the run was gone
-- REMOVED: it was there, or the index said so
-- KEPT: another revision stands there, or nothing was there
-- deletes run, journal, waiters, watchers, its member of due, and idempotency if it leads here; nothing with KEPT
local run, journal, waiters, watchers, dueIndex, idempotency = unpack(KEYS)
local runId, revision = unpack(ARGV, 1, 2)

if (redis.call('HGET', run, 'revision') or '') ~= revision then return { 'KEPT' } end

local listed = redis.call('ZREM', dueIndex, runId)
redis.call('DEL', run, journal, waiters, watchers)
if redis.call('GET', idempotency) == runId then redis.call('DEL', idempotency) end
if listed == 0 and revision == '' then return { 'KEPT' } end
return { 'REMOVED' }
