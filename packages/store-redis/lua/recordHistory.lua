-- recordHistory: keeps events of one run, what is known of it now, and the lists that it is in.
-- KEYS kept  string: what is known of the run
-- KEYS timeline  list of `<number of the first> <events that were told together>`
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
-- ARGV aheadMs  ms: what the lists are kept for beyond that, so that most writes need not move their expiry
-- ARGV anew  1: what was known has had its time; else empty
-- ARGV leftEntry  what the run stood as in its lists; empty: in none
-- ARGV attended  1 if it stood in those of attention, else empty
-- ARGV entry  what it stands as
-- ARGV attends  1 if somebody should look at it, else empty
-- ARGV leftOpen  what it stood as among open questions; empty: it did not
-- ARGV openEntry  what it stands as there; empty: it does not
-- ARGV since  entries before this text have had their time
-- ARGV dropFrom  number of the first event that is not kept
-- ARGV dropUntil  number of the first one after it that is
-- REST chunks  items of the timeline
-- OK: it stands so, or did before
-- CONFLICT: something else is known before
-- writes all keys and their expiries; nothing with CONFLICT, nor when it is sent again
local kept, timeline, all, allOfHandler, allOfPrincipal, left, leftOfHandler, leftOfPrincipal, stands,
  standsOfHandler, standsOfPrincipal, attention, attentionOfHandler, attentionOfPrincipal, open =
  unpack(KEYS)
local expected, text, keptMs, aheadMs, anew, leftEntry, attended, entry, attends, leftOpen, openEntry,
  since, dropFrom, dropUntil = unpack(ARGV, 1, 14)
local firstChunk = 15

local before = redis.call('GET', kept) or ''
if before == text then return { 'OK' } end
if before ~= expected then return { 'CONFLICT' } end

redis.call('SET', kept, text, 'PX', keptMs)
if anew == '1' or expected == '' then redis.call('DEL', timeline) end
if #ARGV >= firstChunk then redis.call('RPUSH', timeline, unpack(ARGV, firstChunk)) end

-- An item goes when all its events lie between the two numbers: when the next item begins there as well.
dropFrom, dropUntil = tonumber(dropFrom), tonumber(dropUntil)
if dropUntil > dropFrom then
  local items = redis.call('LRANGE', timeline, 0, 199)
  local dropped = 0
  for index = 1, #items - 1 do
    local number = tonumber(string.match(items[index], '^%d+'))
    local following = tonumber(string.match(items[index + 1], '^%d+'))
    if number >= dropFrom and following <= dropUntil then
      redis.call('LSET', timeline, index - 1, '')
      dropped = dropped + 1
    end
  end
  if dropped > 0 then redis.call('LREM', timeline, dropped, '') end
end
redis.call('PEXPIRE', timeline, keptMs)

local plain = { all, allOfHandler, allOfPrincipal }
local attentions = { attention, attentionOfHandler, attentionOfPrincipal }
local function leave(lists)
  for _, list in ipairs(lists) do redis.call('ZREM', list, leftEntry) end
end
if leftEntry ~= '' then
  leave(plain)
  leave({ left, leftOfHandler, leftOfPrincipal })
  if attended == '1' then leave(attentions) end
end
if leftOpen ~= '' then redis.call('ZREM', open, leftOpen) end

local function join(lists, as)
  for _, list in ipairs(lists) do
    redis.call('ZADD', list, 0, as)
    local old = redis.call('ZRANGEBYLEX', list, '-', '(' .. since, 'LIMIT', 0, 20)
    if #old > 0 then redis.call('ZREM', list, unpack(old)) end
    if redis.call('PTTL', list) < tonumber(keptMs) then
      redis.call('PEXPIRE', list, keptMs + aheadMs)
    end
  end
end
join(plain, entry)
join({ stands, standsOfHandler, standsOfPrincipal }, entry)
if attends == '1' then join(attentions, entry) end
if openEntry ~= '' then join({ open }, openEntry) end
return { 'OK' }
