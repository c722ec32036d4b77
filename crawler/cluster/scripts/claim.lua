-- Take a lease that is free, or that the caller has seen unchanged for longer than it lasts.
-- KEYS: job, lease. ARGV: new token, the token and the beat that were seen.
-- Answers {'OK', seq}, or why not: 'LIFE' (the server was restarted), 'TAKEN', or 'CALM' (after a
-- restart a free lease may have an owner whose claim was lost: wait until that has run out).
local run = run_id()
local job = redis.call('HMGET', KEYS[1], 'life', 'calm')
if job[1] ~= run then return {'LIFE'} end
local held = redis.call('HMGET', KEYS[2], 'token', 'beat', 'seq')
if (held[1] or '') ~= ARGV[2] or (held[2] or '0') ~= ARGV[3] then return {'TAKEN'} end
if ARGV[2] == '' and job[2] ~= run then return {'CALM'} end
redis.call('HSET', KEYS[2], 'token', ARGV[1])
redis.call('HINCRBY', KEYS[2], 'beat', 1)
if ARGV[2] ~= '' then redis.call('HINCRBY', KEYS[2], 'takeovers', 1) end
return {'OK', tonumber(held[3] or 0)}
