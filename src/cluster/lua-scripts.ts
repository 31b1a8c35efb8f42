// The Lua scripts that Redis runs atomically (Redis documentation, "Scripting with Lua").

/**
 * The lock: taken with SET NX PX and a value of its own, renewed and released only by its holder (Redis
 * documentation, "Distributed Locks with Redis", a single instance). INCR numbers each acquisition: a fencing
 * token that exposes a holder that comes back late. A lock without expiry, which no gateway wrote, expires
 * after a lease. A holder whose token was deleted gets a new one. KEYS lock fence tail status; ARGV node
 * lease-ms mode (1 take, 0 watch, -1 release) status. Returns holder, token, tail, status.
 */
export const CLAIM_LOCK = `
local holder = redis.call('GET', KEYS[1])
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if holder == ARGV[1] then
  if ARGV[3] == '-1' then
    redis.call('DEL', KEYS[1])
    holder = false
  else
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('INCR', KEYS[2]) end
    redis.call('SET', KEYS[4], ARGV[4])
  end
elseif not holder and ARGV[3] == '1' then
  redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
  redis.call('INCR', KEYS[2])
  redis.call('SET', KEYS[4], ARGV[4])
  holder = ARGV[1]
end
return {holder or '', redis.call('GET', KEYS[2]) or '0', redis.call('GET', KEYS[3]) or '0-0', redis.call('GET', KEYS[4]) or ''}
`;

/**
 * Appends one entry to the capped stream (Redis documentation, "Redis Streams", capped streams) if the tail
 * is the one that the writer expects and, for the leader, if it still holds the lock under its token. Each
 * entry names the one before it. Ids never go back, not even if Redis lost its latest entries: the writer may know
 * a later id than the tail.
 * KEYS lock fence tail stream; ARGV node token (or '') expected-tail max-entries last-known-id entry. Returns the
 * outcome, and the id or tail.
 */
export const APPEND_ENTRY = `
if ARGV[2] ~= '' and (redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('GET', KEYS[2]) ~= ARGV[2]) then
  return {'fenced', ''}
end
local tail = redis.call('GET', KEYS[3]) or '0-0'
if tail ~= ARGV[3] then return {'behind', tail} end
local id = '*'
if tail ~= ARGV[5] then
  local function next_ms(id) return tonumber(string.match(id, '%d+')) + 1 end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  id = string.format('%.0f-0', math.max(now, next_ms(tail), next_ms(ARGV[5])))
end
id = redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[4], id, 'previous', tail, 'entry', ARGV[6])
redis.call('SET', KEYS[3], id)
return {'ok', id}
`;

/**
 * Stores the entry of an idempotency key unless the key has one, and returns the existing one. Each user has
 * a limited number of keys: the oldest are deleted.
 * KEYS key keys-of-the-user; ARGV entry ttl-ms now-ms max-keys.
 */
export const CLAIM_KEY = `
local existing = redis.call('GET', KEYS[1])
if existing then return existing end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
local excess = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if excess > 0 then
  local oldest = redis.call('ZPOPMIN', KEYS[2], excess)
  for i = 1, #oldest, 2 do redis.call('DEL', oldest[i]) end
end
return false
`;

/** Replaces the entry of an idempotency key if it is still the old one. KEYS key; ARGV old new. */
export const COMPARE_AND_SET_KEY = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
`;
