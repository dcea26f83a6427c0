-- readKeyRing: all of the key ring, or only the time when the reader has this version already.
-- KEYS keys  hash, kid to text of the key
-- KEYS tombstones  hash, kid to text of the tombstone
-- KEYS ends  sorted set, kid by the epoch ms from which on the ring may drop it
-- KEYS facts  hash of version, born and rotateBefore (epoch ms)
-- ARGV knownVersion  the reader's version; empty for none
-- SAME now: the ring has this version
-- RING now version born rotateBefore keys tombstones ends: three lists, of kid and text or epoch ms in turn
-- writes nothing
local keys, tombstones, ends, facts = unpack(KEYS)
local knownVersion = unpack(ARGV, 1, 1)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A ring that nobody wrote yet, or that was lost, begins now.
local stands = redis.call('HMGET', facts, 'version', 'born', 'rotateBefore')
local version = stands[1] or 'none'
if version == knownVersion then return { 'SAME', now } end

local ringKeys = redis.call('HGETALL', keys)
local ringTombstones = redis.call('HGETALL', tombstones)
local ringEnds = redis.call('ZRANGE', ends, 0, -1, 'WITHSCORES')
return { 'RING', now, version, stands[2] or now, stands[3] or 0, ringKeys, ringTombstones, ringEnds }
