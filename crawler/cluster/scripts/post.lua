-- Put something into the inbox of a shard that no commit depends on: strikes, and questions.
-- KEYS: job, lease, inbox. ARGV: it.
local status = redis.call('HGET', KEYS[1], 'status')
if not status or status == 'finished' then return 0 end
redis.call('XADD', KEYS[3], '*', 'links', ARGV[1])
redis.call('HINCRBY', KEYS[2], 'inbox', #ARGV[1])
return 1
