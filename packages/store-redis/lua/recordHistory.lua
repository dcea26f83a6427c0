-- recordHistory: keeps events of one run, what is known of it now, and the lists that it is in.
-- KEYS kept  string: what is known of the run
-- KEYS events  sorted set: `<number> <event>` by number
-- KEYS all  list: sorted set of entries, all of score 0, as all below
-- KEYS allOfHandler  list
-- KEYS allOfPrincipal  list
-- KEYS left  list of the status that the run had
-- KEYS leftOfHandler  list
-- KEYS leftOfPrincipal  list
-- KEYS stands  list of the status that it has
-- KEYS standsOfHandler  list
-- KEYS standsOfPrincipal  list
-- KEYS attention  list
-- KEYS attentionOfHandler  list
-- KEYS attentionOfPrincipal  list
-- KEYS open  list of open questions
-- ARGV expected  what is known before, as it was read; empty: nothing
-- ARGV text  what is known now; no two writes have the same
-- ARGV keptMs  ms
-- ARGV anew  1: what was known has had its time; else empty
-- ARGV leftEntry  what the run stood as in its lists; empty: in none
-- ARGV entry  what it stands as
-- ARGV attends  1 if somebody should look at it, else empty
-- ARGV leftOpen  what it stood as among open questions; empty: it did not
-- ARGV openEntry  what it stands as there; empty: it does not
-- ARGV since  entries before this text have had their time
-- ARGV number  of the first of the events
-- ARGV dropFrom  number of the first event that is not kept
-- ARGV dropUntil  number of the first one after it that is
-- REST events  JSON or wrapped, one each
-- OK: it stands so, or did before
-- CONFLICT: something else is known before
-- writes all keys and their expiries; nothing with CONFLICT, nor when it is sent again
local kept, events, all, allOfHandler, allOfPrincipal, left, leftOfHandler, leftOfPrincipal, stands,
  standsOfHandler, standsOfPrincipal, attention, attentionOfHandler, attentionOfPrincipal, open =
  unpack(KEYS)
local expected, text, keptMs, anew, leftEntry, entry, attends, leftOpen, openEntry, since, number,
  dropFrom, dropUntil = unpack(ARGV, 1, 13)
local firstEvent = 14

local before = redis.call('GET', kept) or ''
if before == text then return { 'OK' } end
if before ~= expected then return { 'CONFLICT' } end

redis.call('SET', kept, text, 'PX', keptMs)
if anew == '1' or expected == '' then redis.call('DEL', events) end
for index = firstEvent, #ARGV do
  local at = number + index - firstEvent
  redis.call('ZADD', events, at, at .. ' ' .. ARGV[index])
end
redis.call('ZREMRANGEBYSCORE', events, dropFrom, '(' .. dropUntil)
redis.call('PEXPIRE', events, keptMs)

local attentions = { attention, attentionOfHandler, attentionOfPrincipal }
local leaves = { all, allOfHandler, allOfPrincipal, left, leftOfHandler, leftOfPrincipal, unpack(attentions) }
if leftEntry ~= '' then
  for _, list in ipairs(leaves) do redis.call('ZREM', list, leftEntry) end
end
if leftOpen ~= '' then redis.call('ZREM', open, leftOpen) end

local function join(list, as)
  redis.call('ZADD', list, 0, as)
  local old = redis.call('ZRANGEBYLEX', list, '-', '(' .. since, 'LIMIT', 0, 20)
  if #old > 0 then redis.call('ZREM', list, unpack(old)) end
  redis.call('PEXPIRE', list, keptMs)
end
local joins = { all, allOfHandler, allOfPrincipal, stands, standsOfHandler, standsOfPrincipal }
for _, list in ipairs(joins) do join(list, entry) end
if attends == '1' then
  for _, list in ipairs(attentions) do join(list, entry) end
end
if openEntry ~= '' then join(open, openEntry) end
return { 'OK' }
