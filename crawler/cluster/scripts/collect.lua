-- Trim what the collector has on its disk, and read what comes next.
-- KEYS: job, log, collector. ARGV: life, token, first entry to keep ('' keeps all), bytes before it,
-- entry after which to read, number of entries.
if run_id() ~= ARGV[1] or redis.call('HGET', KEYS[1], 'life') ~= ARGV[1] then return {'LIFE'} end
if redis.call('HGET', KEYS[3], 'token') ~= ARGV[2] then return {'GONE'} end
if ARGV[3] ~= '' then
  redis.call('XTRIM', KEYS[2], 'MINID', ARGV[3])
  redis.call('HINCRBY', KEYS[1], 'log_bytes', 0 - ARGV[4])
end
redis.call('HINCRBY', KEYS[3], 'beat', 1)
local found = redis.call('XRANGE', KEYS[2], '(' .. ARGV[5], '+', 'COUNT', ARGV[6])
return {'OK', redis.call('HGET', KEYS[1], 'status') or '', found}
