-- Give a lease back whose last batch is there. KEYS: lease, and changes if others wait for it. ARGV: token, seq.
local held = redis.call('HMGET', KEYS[1], 'token', 'seq')
if held[1] ~= ARGV[1] or (held[2] or '0') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'token', '')
if KEYS[2] then redis.call('XADD', KEYS[2], 'MAXLEN', '1', '*', 'free', KEYS[1]) end
return 1
