-- Write one piece of a checkpoint; or, if there is none, let the checkpoint count.
-- KEYS: job, lease, journal, the key of the checkpoint before, that of the new one. ARGV: life, token,
-- number of the piece from 0, the piece ('' if all are there), seq, which of the two keys is the new one.
-- Answers 'OK', or why not: 'LIFE' or 'GONE'.
if run_id() ~= ARGV[1] or redis.call('HGET', KEYS[1], 'life') ~= ARGV[1] then return 'LIFE' end
if redis.call('HGET', KEYS[2], 'token') ~= ARGV[2] then return 'GONE' end
local number = tonumber(ARGV[3])
if ARGV[4] ~= '' then
  if number == 0 then redis.call('UNLINK', KEYS[5]) end
  if redis.call('LLEN', KEYS[5]) == number then redis.call('RPUSH', KEYS[5], ARGV[4]) end
elseif redis.call('LLEN', KEYS[5]) == number then
  redis.call('HSET', KEYS[2], 'checkpoint', ARGV[5], 'slot', ARGV[6])
  redis.call('XTRIM', KEYS[3], 'MINID', (ARGV[5] + 1) .. '-0')
  redis.call('UNLINK', KEYS[4])
end
return 'OK'
