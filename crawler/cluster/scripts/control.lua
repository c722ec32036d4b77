-- Change the status of a job that is not over. KEYS: job. ARGV: status.
-- Answers the status before; '' if there is no such job.
local before = redis.call('HGET', KEYS[1], 'status')
if before and before ~= 'finished' then redis.call('HSET', KEYS[1], 'status', ARGV[1]) end
return before or ''
