-- Note that something holds since the server was started. KEYS: job. ARGV: field, run id.
if run_id() ~= ARGV[2] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
