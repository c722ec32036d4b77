-- Change the status of a job that is not over, or ask its schedulers to restart; note who asked whom.
-- KEYS: job, here, changes. ARGV: command, new status ('' for a restart), who asks.
-- Answers the status before; '' if there is no such job.
local before = redis.call('HGET', KEYS[1], 'status')
if not before or before == 'finished' then return before or '' end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'status', ARGV[2])
else redis.call('HINCRBY', KEYS[1], 'restarts', 1) end
local asked = {command = ARGV[1], by = ARGV[3], at = redis.call('TIME')[1], of = redis.call('HKEYS', KEYS[2])}
redis.call('HSET', KEYS[1], 'asked', cjson.encode(asked))
redis.call('XADD', KEYS[3], 'MAXLEN', '1', '*', 'command', ARGV[1])
return before
