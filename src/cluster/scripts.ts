// What the engine does in one step: its scripts run alone (Redis documentation, "Scripting with Lua": atomic execution).

/**
 * The lock: taken with SET NX PX and a value of its own, renewed and let go only by whoever holds it (Redis documentation, "Distributed
 * Locks with Redis", with a single instance), numbered with INCR so that a holder that comes back late is known by its old number.
 * KEYS lock fence tail word; ARGV me lease-ms wants (1, 0, or -1 to let go) word. Answers holder, number, tail, word.
 */
export const CLAIM = `
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] then
  if ARGV[3] == '-1' then
    redis.call('DEL', KEYS[1])
    held = false
  else
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    redis.call('SET', KEYS[4], ARGV[4])
  end
elseif not held and ARGV[3] == '1' then
  redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
  redis.call('INCR', KEYS[2])
  redis.call('SET', KEYS[4], ARGV[4])
  held = ARGV[1]
end
return {held or '', redis.call('GET', KEYS[2]) or '0', redis.call('GET', KEYS[3]) or '0-0', redis.call('GET', KEYS[4]) or ''}
`;

/**
 * One entry at the end of the capped stream (Redis documentation, "Redis Streams", capped streams), if the end is where its writer
 * stands and, for the gateway that asks the CMS, if it still holds the lock under its number. Each entry names the one before it. Ids
 * never go back, not even when the engine lost its data: ARGV floor is the latest that the writer knows.
 * KEYS lock fence tail stream; ARGV me token (or '') expected ('*' for any) maxlen floor-ms entry. Answers what happened, and the id or end.
 */
export const APPEND = `
if ARGV[2] ~= '' and (redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('GET', KEYS[2]) ~= ARGV[2]) then
  return {'fenced', ''}
end
local tail = redis.call('GET', KEYS[3]) or '0-0'
if ARGV[3] ~= '*' and tail ~= ARGV[3] then return {'behind', tail} end
local id = '*'
if tail == '0-0' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  id = string.format('%.0f-0', math.max(now, tonumber(ARGV[5]) + 1))
end
id = redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[4], id, 'after', tail, 'entry', ARGV[6])
redis.call('SET', KEYS[3], id)
return {'ok', id}
`;

/**
 * Takes the key of a create unless it is known, and answers what is known. Each user has so many keys: the oldest go.
 * KEYS key keys-of-the-user; ARGV entry keep-ms now-ms most.
 */
export const TAKE_KEY = `
local known = redis.call('GET', KEYS[1])
if known then return known end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if over > 0 then
  local oldest = redis.call('ZPOPMIN', KEYS[2], over)
  for i = 1, #oldest, 2 do redis.call('DEL', oldest[i]) end
end
return false
`;

/** Replaces what is known of a key, unless another request has done so before. KEYS key; ARGV old new. */
export const REPLACE_KEY = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
`;
