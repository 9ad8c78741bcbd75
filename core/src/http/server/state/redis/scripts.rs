//! What is done in Redis as one step.
//!
//! | key, after the prefix | type | holds | lives |
//! | --- | --- | --- | --- |
//! | `n:NODE` | string | that a process is there | the lease |
//! | `s:SESSION` | hash | `v` of this layout, `peer` (JSON), `level`, `version`, `numbers`, `standing`, `news`, `bytes` in streams | the idle time |
//! | `r:SESSION` | hash | the process of each part of the session, by its number | the idle time |
//! | `u:SESSION` | set | the resources subscribed to | the idle time |
//! | `x:SESSION` | sorted set | its streams by the time they were last written to | the idle time |
//! | `m:SESSION:STREAM` | hash | `node` that writes it, `follower`, `done`, `bytes`, `p:ID` for each request to answer; `last`, `seen`, `q:NODE` where it stands | what streams do |
//! | `e:SESSION:STREAM` | stream | its events, `d` under their numbers | what streams do |
//! | `sessions` | sorted set | sessions by the time they end | twice the idle time |
//! | `changes` | sorted set | what was announced, by its number | twice the idle time |
//! | `news` | string | the number of the last announcement | twice the idle time |
//!
//! Channels: `n:NODE` for one process, `all` for all. Every process refreshes what it uses three times per lease.
//! The keys of a session are made from its id, so all must be on one server.

use std::sync::LazyLock;

use redis::Script;

/// The version of the layout. A process that finds another one does not touch it.
pub(super) const LAYOUT: u32 = 1;

/// What scripts have in common: keys, the clock, who follows a stream.
const COMMON: &str = r#"
local P = KEYS[1]
local function key(kind, ...) return P .. kind .. ':' .. table.concat({...}, ':') end
local function now() local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000) end
local function tell(node, note) redis.call('PUBLISH', P .. 'n:' .. node, note) end
local function wake(stream, follower)
  if follower then
    tell(string.match(follower, '^%S+'), '{"v":1,"note":"more","stream":"' .. stream .. '"}')
  end
end
local function stretch(id, ttl)
  for _, kind in ipairs({'s', 'r', 'u', 'x'}) do redis.call('PEXPIRE', key(kind, id), ttl) end
  local standing = redis.call('HGET', key('s', id), 'standing')
  if standing then
    redis.call('PEXPIRE', key('m', id, standing), ttl)
    redis.call('PEXPIRE', key('e', id, standing), ttl)
  end
  redis.call('ZADD', P .. 'sessions', now() + ttl, id)
  redis.call('PEXPIRE', P .. 'sessions', ttl * 2)
end
local function others(id, me, note)
  local told = {}
  local nodes = redis.call('HVALS', key('r', id))
  for _, node in ipairs(nodes) do
    if node ~= me and not told[node] then told[node] = true tell(node, note) end
  end
end
-- The log of what belongs to no request. Its first event has no data, so that there is always one to go on from.
local function standing(id, name, ttl)
  local s = key('s', id)
  local known = redis.call('HGET', s, 'standing')
  if known and redis.call('EXISTS', key('m', id, known)) == 1 then return known end
  redis.call('HSET', s, 'standing', name)
  redis.call('HSET', key('m', id, name), 'node', '', 'last', 1, 'seen', 1)
  redis.call('XADD', key('e', id, name), '1-0', 'd', '')
  redis.call('PEXPIRE', key('m', id, name), ttl)
  redis.call('PEXPIRE', key('e', id, name), ttl)
  return name
end
local function number(entry) return tonumber(string.match(entry[1], '^%d+')) end
-- Counts what a stream takes. Over the bound those go that were written to longest ago, and some more, so that it is
-- not looked at all of them each time.
local function weigh(id, stream, size, bytes, streams)
  local s, x = key('s', id), key('x', id)
  redis.call('ZADD', x, now(), stream)
  redis.call('HINCRBY', key('m', id, stream), 'bytes', size)
  local total = redis.call('HINCRBY', s, 'bytes', size)
  if total <= bytes and redis.call('ZCARD', x) <= streams then return end
  local kept, weights = {}, {}
  total = 0
  for _, name in ipairs(redis.call('ZRANGE', x, 0, -1)) do
    local weight = redis.call('HGET', key('m', id, name), 'bytes')
    if weight then
      kept[#kept + 1], weights[#kept + 1] = name, tonumber(weight)
      total = total + tonumber(weight)
    else redis.call('ZREM', x, name) end
  end
  for at, name in ipairs(kept) do
    if total <= bytes * 0.75 and #kept - at < streams * 0.75 then break end
    redis.call('UNLINK', key('m', id, name), key('e', id, name))
    redis.call('ZREM', x, name)
    total = total - weights[at]
  end
  redis.call('HSET', s, 'bytes', total)
end
local function end_at(id, stream, ttl, follower)
  redis.call('HSET', key('m', id, stream), 'done', 1)
  redis.call('PEXPIRE', key('m', id, stream), ttl)
  redis.call('PEXPIRE', key('e', id, stream), ttl)
  wake(stream, follower)
end
-- Answers the requests of a stream that nobody else will answer. `answer` is what follows the id.
local function drop(id, stream, after, answer, ttl, follower)
  local m, e = key('m', id, stream), key('e', id, stream)
  local last = redis.call('XREVRANGE', e, '+', '-', 'COUNT', 1)
  local at = math.max(after, last[1] and number(last[1]) or 0)
  for _, field in ipairs(redis.call('HKEYS', m)) do
    if string.sub(field, 1, 2) == 'p:' then
      at = at + 1
      local text = '{"jsonrpc":"2.0","id":' .. string.sub(field, 3) .. answer
      redis.call('XADD', e, string.format('%d-0', at), 'd', text)
      redis.call('HDEL', m, field)
    end
  end
  end_at(id, stream, ttl, follower)
end
"#;

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub(super) static $name: LazyLock<Script> = LazyLock::new(|| {
            Script::new(&format!("{COMMON}{}", $text))
        });)*
    };
}

scripts! {
    /// id, layout, peer, level, node, ttl, cap → 1, or 0 when there are too many.
    BEGIN_SESSION = r#"
local id, ttl = ARGV[1], tonumber(ARGV[6])
redis.call('ZREMRANGEBYSCORE', P .. 'sessions', '-inf', now())
if redis.call('ZCARD', P .. 'sessions') >= tonumber(ARGV[7]) then return 0 end
redis.call('HSET', key('s', id), 'v', ARGV[2], 'peer', ARGV[3], 'level', ARGV[4], 'version', 0, 'numbers', 0,
  'news', redis.call('GET', P .. 'news') or 0)
redis.call('HSET', key('r', id), 0, ARGV[5])
stretch(id, ttl)
return 1
"#;

    /// id, layout, node, ttl, known version or -1, number or -1 → nothing, or version and number, and where
    /// the version is another one: peer, level, subscriptions.
    VISIT = r#"
local id, ttl, number = ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[6])
local s = key('s', id)
local known = redis.call('HMGET', s, 'v', 'version', 'peer', 'level')
if known[1] ~= ARGV[2] then return {} end
if number < 0 then number = redis.call('HINCRBY', s, 'numbers', 1) end
redis.call('HSET', key('r', id), number, ARGV[3])
stretch(id, ttl)
local version = tonumber(known[2])
if version == tonumber(ARGV[5]) then return {version, number} end
return {version, number, known[3], known[4], redis.call('SMEMBERS', key('u', id))}
"#;

    /// id, node, ttl, note, what, value → 1, or 0 when there is no such session.
    SET = r#"
local id = ARGV[1]
local s = key('s', id)
if redis.call('EXISTS', s) == 0 then return 0 end
if ARGV[5] == 'level' then redis.call('HSET', s, 'level', ARGV[6])
elseif ARGV[5] == 'add' then
  redis.call('SADD', key('u', id), ARGV[6])
  redis.call('PEXPIRE', key('u', id), ARGV[3])
else redis.call('SREM', key('u', id), ARGV[6]) end
redis.call('HINCRBY', s, 'version', 1)
others(id, ARGV[2], ARGV[4])
return 1
"#;

    /// id, node, note.
    END_SESSION = r#"
local id = ARGV[1]
others(id, ARGV[2], ARGV[3])
for _, stream in ipairs(redis.call('ZRANGE', key('x', id), 0, -1)) do
  redis.call('UNLINK', key('e', id, stream), key('m', id, stream))
end
local standing = redis.call('HGET', key('s', id), 'standing')
if standing then redis.call('UNLINK', key('e', id, standing), key('m', id, standing)) end
redis.call('UNLINK', key('s', id), key('r', id), key('u', id), key('x', id))
redis.call('ZREM', P .. 'sessions', id)
"#;

    /// id, node, number or -1 for all others, note.
    FORWARD = r#"
local id = ARGV[1]
if ARGV[3] == '-1' then others(id, ARGV[2], ARGV[4]) return end
local node = redis.call('HGET', key('r', id), ARGV[3])
if node then tell(node, ARGV[4]) end
"#;

    /// id, stream, node, ttl, bytes and streams to keep, and the ids of the requests.
    BEGIN_STREAM = r#"
local id, stream = ARGV[1], ARGV[2]
if redis.call('EXISTS', key('s', id)) == 0 then return end
local m = key('m', id, stream)
redis.call('HSET', m, 'node', ARGV[3])
for at = 7, #ARGV do redis.call('HSET', m, 'p:' .. ARGV[at], 1) end
redis.call('PEXPIRE', m, ARGV[4])
weigh(id, stream, 0, tonumber(ARGV[5]), tonumber(ARGV[6]))
redis.call('PEXPIRE', key('x', id), math.max(redis.call('PTTL', key('s', id)), tonumber(ARGV[4])))
"#;

    /// id, stream, number, data, the request it answers or nothing, events to keep, ttl, bytes and streams to keep.
    APPEND = r#"
local id, stream = ARGV[1], ARGV[2]
local m, e = key('m', id, stream), key('e', id, stream)
local known = redis.call('HMGET', m, 'node', 'follower', 'done')
if not known[1] or known[3] then return end
-- One that was written before is written again when it is not known whether it was.
local added = redis.pcall('XADD', e, 'MAXLEN', ARGV[6], ARGV[3] .. '-0', 'd', ARGV[4])
if ARGV[5] ~= '' then redis.call('HDEL', m, 'p:' .. ARGV[5]) end
redis.call('PEXPIRE', e, ARGV[7])
redis.call('PEXPIRE', m, ARGV[7])
wake(stream, known[2])
if type(added) == 'string' then weigh(id, stream, #ARGV[4], tonumber(ARGV[8]), tonumber(ARGV[9])) end
"#;

    /// id, stream, ttl.
    FINISH = r#"
local id, stream = ARGV[1], ARGV[2]
local known = redis.call('HMGET', key('m', id, stream), 'node', 'follower')
if known[1] then end_at(id, stream, ARGV[3], known[2]) end
"#;

    /// id, a name for the log, node, what the node counted, data, events to keep, ttl.
    POST = r#"
local id, node = ARGV[1], ARGV[3]
if redis.call('EXISTS', key('s', id)) == 0 then return end
local stream = standing(id, ARGV[2], ARGV[7])
local m, e = key('m', id, stream), key('e', id, stream)
if tonumber(redis.call('HGET', m, 'q:' .. node) or 0) >= tonumber(ARGV[4]) then return end
redis.call('HSET', m, 'q:' .. node, ARGV[4])
redis.call('XADD', e, 'MAXLEN', ARGV[6], redis.call('HINCRBY', m, 'last', 1) .. '-0', 'd', ARGV[5])
wake(stream, redis.call('HGET', m, 'follower'))
"#;

    /// id, stream or nothing, number, node, token, a name for the log, ttl → nothing when it is gone, or stream,
    /// number, whether it stands, what was missed.
    FOLLOW = r#"
local id, stream, after, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[7])
local s = key('s', id)
if redis.call('EXISTS', s) == 0 then return {} end
local stands, missed = 0, {}
if stream == '' or stream == redis.call('HGET', s, 'standing') then
  stands = 1
  local log = standing(id, ARGV[6], ttl)
  local seen = redis.call('HMGET', key('m', id, log), 'seen', 'last')
  if stream == '' then after = tonumber(seen[1])
  elseif stream ~= log or after > tonumber(seen[2]) then return {} end
  missed = redis.call('ZRANGEBYSCORE', P .. 'changes', '(' .. redis.call('HGET', s, 'news'), '+inf')
  redis.call('HSET', s, 'news', redis.call('GET', P .. 'news') or 0)
end
if stream == '' then stream = redis.call('HGET', s, 'standing') end
local m, e = key('m', id, stream), key('e', id, stream)
local known = redis.call('HMGET', m, 'node', 'follower', 'done')
if not known[1] then return {} end
local first, last = redis.call('XRANGE', e, '-', '+', 'COUNT', 1), redis.call('XREVRANGE', e, '+', '-', 'COUNT', 1)
if first[1] and number(first[1]) > after + 1 then
  if ARGV[2] ~= '' then return {} end
  after = number(first[1]) - 1
end
-- One that is written may lag behind what its client has seen.
if known[3] and (not last[1] or after > number(last[1])) then return {} end
redis.call('HSET', m, 'follower', ARGV[4] .. ' ' .. ARGV[5])
wake(stream, known[2])
if known[1] ~= '' then
  tell(known[1], '{"v":1,"note":"resumed","session":"' .. id .. '","stream":"' .. stream .. '"}')
end
return {stream, after, stands, missed}
"#;

    /// id, stream, number, node, token, how many at most, whether it may be told that the writer is gone, rest of the
    /// answer to requests whose process is gone, ttl → nothing when it is followed no longer, or whether it is done,
    /// and numbers and data by turns.
    READ = r#"
local id, stream, after = ARGV[1], ARGV[2], tonumber(ARGV[3])
local m, e = key('m', id, stream), key('e', id, stream)
local known = redis.call('HMGET', m, 'node', 'follower', 'done', 'seen')
if known[2] ~= ARGV[4] .. ' ' .. ARGV[5] then return {} end
if known[4] and tonumber(known[4]) < after then redis.call('HSET', m, 'seen', after) end
local function rest()
  return redis.call('XRANGE', e, string.format('%d-0', after + 1), '+', 'COUNT', ARGV[6])
end
local done, events = known[3], rest()
if #events == 0 and not done and known[1] ~= '' and ARGV[7] == '1' and redis.call('EXISTS', P .. 'n:' .. known[1]) == 0 then
  drop(id, stream, after, ARGV[8], ARGV[9])
  done, events = '1', rest()
end
local result = {done and #events < tonumber(ARGV[6]) and 1 or 0}
for _, entry in ipairs(events) do
  result[#result + 1] = number(entry)
  result[#result + 1] = entry[2][2]
end
return result
"#;

    /// id, ttl, rest of the answer, and streams: their process gives them up.
    GIVE_UP = r#"
local id = ARGV[1]
for arg = 4, #ARGV do
  local stream = ARGV[arg]
  local known = redis.call('HMGET', key('m', id, stream), 'node', 'follower', 'done')
  if known[1] and not known[3] then drop(id, stream, 0, ARGV[3], ARGV[2], known[2]) end
end
"#;

    /// what, start of the note, its end, how many to keep, ttl.
    ANNOUNCE = r#"
local at = redis.call('INCR', P .. 'news')
redis.call('ZADD', P .. 'changes', at, ARGV[1])
redis.call('ZREMRANGEBYRANK', P .. 'changes', 0, -1 - tonumber(ARGV[4]))
redis.call('PEXPIRE', P .. 'news', ARGV[5])
redis.call('PEXPIRE', P .. 'changes', ARGV[5])
redis.call('PUBLISH', P .. 'all', ARGV[2] .. string.format('%d', at) .. ARGV[3])
"#;

    /// the number that was heard last → the number of the last one, and what was announced since.
    CATCH_UP = r#"
local at = tonumber(redis.call('GET', P .. 'news') or 0)
return {at, redis.call('ZRANGEBYSCORE', P .. 'changes', '(' .. ARGV[1], '+inf')}
"#;
}
