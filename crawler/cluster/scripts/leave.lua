-- Forget a scheduler that has given its shards back: the others share them. KEYS: job, here, changes. ARGV: its id.
redis.call('HDEL', KEYS[2], ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('XADD', KEYS[3], 'MAXLEN', '1', '*', 'left', ARGV[1]) end
return 1
