-- Tell a shard of pages during whose analysis a scheduler ended. KEYS: job, lease, inbox. ARGV: them.
local status = redis.call('HGET', KEYS[1], 'status')
if not status or status == 'finished' then return 0 end
redis.call('XADD', KEYS[3], '*', 'links', ARGV[1])
redis.call('HINCRBY', KEYS[2], 'inbox', #ARGV[1])
return 1
