-- Give a scheduler leave to begin pages, and see whether the job has reached a limit.
-- KEYS: job, quota, here, leases. ARGV: id of the scheduler, seconds a lease lasts, limits of pages, bytes,
-- errors and seconds ('' is none), how many pages it may begin or has begun without a commit, and
-- whether it wants more. Answers how many more it may begin, and the limit that was reached.
local now, live, granted = tonumber(redis.call('TIME')[1]), 0, 0
redis.call('HSET', KEYS[2], ARGV[1], ARGV[7])
for _, id in ipairs(redis.call('HKEYS', KEYS[2])) do
  local here = redis.call('HGET', KEYS[3], id)
  if id == ARGV[1] or here and now - tonumber(string.match(here, '^%d+')) <= ARGV[2] + 1 then
    live, granted = live + 1, granted + redis.call('HGET', KEYS[2], id)
  else redis.call('HDEL', KEYS[2], id) end
end
local pages, bytes, errors = 0, 0, 0
for i = 4, #KEYS do
  local known = cjson.decode(redis.call('HGET', KEYS[i], 'counts') or '{}')
  if known.frontier then
    pages, bytes = pages + known.frontier.begun, bytes + known.frontier.bytes
    for _, number in pairs(known.counts.failed) do errors = errors + number end
  end
end
local began, reached = tonumber(redis.call('HGET', KEYS[1], 'began') or now), nil
local left = ARGV[3] == '' and 0 or ARGV[3] - pages - granted
if ARGV[3] ~= '' and left <= 0 and granted == 0 then reached = 'page_limit' end
if ARGV[4] ~= '' and bytes >= tonumber(ARGV[4]) then reached = 'byte_limit' end
if ARGV[5] ~= '' and errors >= tonumber(ARGV[5]) then reached = 'error_limit' end
if ARGV[6] ~= '' and now - began >= tonumber(ARGV[6]) then reached = 'time_limit' end
if reached then redis.call('HSETNX', KEYS[1], 'limit', reached) end
local more = ARGV[8] == '1' and left > 0 and math.max(1, math.min(256, math.floor(left / 4 / live))) or 0
redis.call('HINCRBY', KEYS[2], ARGV[1], more)
return {more, redis.call('HGET', KEYS[1], 'limit') or ''}
