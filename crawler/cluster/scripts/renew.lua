-- Prove that the caller lives: one beat more for each lease that it holds; show all of them. A scheduler that is new
-- is a change that the others see, so that they give it its share.
-- KEYS: job, here, changes, leases. ARGV: id of the scheduler, seconds a lease lasts, its figures, and for
-- each lease the caller's token ('' if it has none).
local run, now = run_id(), redis.call('TIME')[1]
local job = redis.call('HMGET', KEYS[1], 'life', 'calm', 'status', 'restarts')
if redis.call('HSET', KEYS[2], ARGV[1], now .. ' ' .. ARGV[3]) == 1 and job[3] then
  redis.call('XADD', KEYS[3], 'MAXLEN', '1', '*', 'joined', ARGV[1])
end
local live, here = 0, redis.call('HGETALL', KEYS[2])
for i = 1, #here, 2 do
  local age = now - tonumber(string.match(here[i + 1], '^%d+'))
  if age <= ARGV[2] + 1 then live = live + 1
  elseif age > 100 * ARGV[2] then redis.call('HDEL', KEYS[2], here[i]) end
end
local memory = redis.call('INFO', 'memory')
local used, most = string.match(memory, 'used_memory:(%d+)'), string.match(memory, 'maxmemory:(%d+)')
local full = tonumber(most) > 0 and tonumber(used) > 0.8 * most and 1 or 0
local answer = {run, job[1] or '', job[2] or '', job[3] or '', now, live, full, job[4] or '0'}
for i = 4, #KEYS do
  local token = ARGV[i]
  if token ~= '' and redis.call('HGET', KEYS[i], 'token') == token then
    redis.call('HINCRBY', KEYS[i], 'beat', 1)
  end
  local held = redis.call('HMGET', KEYS[i], 'token', 'beat', 'seq', 'pending')
  for j = 1, 4 do answer[#answer + 1] = held[j] or '' end
end
return answer
