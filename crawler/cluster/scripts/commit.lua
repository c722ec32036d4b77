-- Write one batch of each shard that has changed: all of them, or nothing.
-- KEYS: job, log, changes; of each shard its lease, inbox and journal; of each target its lease and inbox; of all shards
-- their leases and inboxes, if they are to be looked at. ARGV: life, call, number of shards and of targets, bounds
-- of an inbox and of the log in bytes, ends and records; of each shard: its number, token, seq, rows, first inbox
-- entry to keep ('' keeps all), bytes before it, pending, counts; of each target: links. Everything is checked
-- before the first write, which is an XADD: a full server refuses it. All shards are looked at if the job may be
-- finished by this call: no shard of it has work left. Answers {'OK', status, whether something is over its
-- bound}, {'LIFE'}, or {'LOST', the shards that Redis knows otherwise}.
local life, shards, targets = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local most_in, most_log, log = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
if run_id() ~= life or redis.call('HGET', KEYS[1], 'life') ~= life then return {'LIFE'} end
local gone, fresh = {'LOST'}, {'LOST'}
for n = 0, shards - 1 do
  local a, held = 8 + n * 8, redis.call('HMGET', KEYS[4 + n * 3], 'token', 'seq')
  local seq, last = tonumber(ARGV[a + 2]), tonumber(held[2] or 0)
  if held[1] ~= ARGV[a + 1] or seq > last + 1 then gone[#gone + 1] = ARGV[a]
  elseif seq == last + 1 then fresh[#fresh + 1] = ARGV[a] end
end
if #gone > 1 then return gone end
if #fresh > 1 and #fresh <= shards then return fresh end -- calls are whole: these were lost
local full, is_new, size = 0, #fresh > 1, 0
for n = 0, is_new and shards - 1 or -1 do
  local a, k = 8 + n * 8, 4 + n * 3
  redis.call('XADD', KEYS[k + 2], ARGV[a + 2] .. '-1', 'rows', ARGV[a + 3])
  redis.call('HSET', KEYS[k], 'seq', ARGV[a + 2], 'pending', ARGV[a + 6], 'counts', ARGV[a + 7])
  if ARGV[a + 4] ~= '' then
    redis.call('XTRIM', KEYS[k + 1], 'MINID', ARGV[a + 4])
    redis.call('HINCRBY', KEYS[k], 'inbox', 0 - ARGV[a + 5])
  end
end
for n = 0, is_new and targets - 1 or -1 do
  local k, links = 4 + shards * 3 + n * 2, ARGV[8 + shards * 8 + n]
  redis.call('XADD', KEYS[k + 1], '*', 'links', links)
  if redis.call('HINCRBY', KEYS[k], 'inbox', #links) > most_in then full = 1 end
end
if is_new and log ~= '' then redis.call('XADD', KEYS[2], '*', 'call', ARGV[2], 'ends', log); size = #log end
if redis.call('HINCRBY', KEYS[1], 'log_bytes', size) > most_log then full = 1 end
local open, all = 0, 4 + shards * 3 + targets * 2
for k = all, #KEYS, 2 do
  local held = redis.call('HMGET', KEYS[k], 'pending', 'inbox')
  if tonumber(held[2] or 0) > most_in then full = 1 end
  if held[1] ~= '0' or redis.call('XLEN', KEYS[k + 1]) > 0 then open = open + 1 end
end
if #KEYS > all and open == 0 then
  redis.call('HSET', KEYS[1], 'status', 'finished')
  redis.call('XADD', KEYS[3], 'MAXLEN', '1', '*', 'status', 'finished')
end
return {'OK', redis.call('HGET', KEYS[1], 'status'), full}
