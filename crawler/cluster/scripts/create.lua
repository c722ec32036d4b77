-- Create a job, unless there is one. KEYS: job, leases, the last of which is that of the first
-- requests. ARGV: pairs of fields and values.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'life', run_id(), 'calm', run_id(), 'began', redis.call('TIME')[1], unpack(ARGV))
for i = 2, #KEYS do redis.call('HSET', KEYS[i], 'pending', i == #KEYS and 1 or 0, 'seq', 0, 'beat', 0) end
return 1
