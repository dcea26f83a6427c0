-- readRun: all of a run that a decision needs, as of one moment.
-- KEYS run  hash
-- KEYS waiters  hash, request id to instance id
-- KEYS journal  list of entries
-- ARGV clock  played time in epoch ms, for tests; empty: the server's
-- ARGV entries  1 to read the journal as well, else empty
-- RUN now fields waiters entries: fields and waiters are flat lists of name and value
-- NONE now: there is no such run
-- writes nothing
local run, waiters, journal = unpack(KEYS)
local clock, entries = unpack(ARGV, 1, 2)

local now = tonumber(clock)
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local fields = redis.call('HGETALL', run)
if #fields == 0 then return { 'NONE', now } end
local read = {}
if entries == '1' then read = redis.call('LRANGE', journal, 0, -1) end
return { 'RUN', now, fields, redis.call('HGETALL', waiters), read }
