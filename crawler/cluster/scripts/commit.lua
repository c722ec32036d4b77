-- Write one batch of each shard that has changed: all of them, or nothing.
-- KEYS: job, log, all leases, all inboxes, all journals. ARGV: life, call, number of leases, of
-- shards and of targets, bounds of an inbox and of the log in bytes, whether all inboxes are looked at; of each shard: its number,
-- token, seq, rows, first inbox entry to keep, bytes before it, pending, counts, log; of each target: its
-- number, links. Everything is checked before the first write, which is an XADD: a full server refuses it.
-- Else all shards are looked at only if the job may be finished thereby: no shard of the call has work left.
local life, call, total = ARGV[1], ARGV[2], tonumber(ARGV[3])
local shards, targets = tonumber(ARGV[4]), tonumber(ARGV[5])
if run_id() ~= life or redis.call('HGET', KEYS[1], 'life') ~= life then return {'LIFE'} end
local function key(kind, s) return KEYS[3 + kind * total + s] end
local gone, fresh = {'LOST'}, {'LOST'}
for a = 9, 8 + shards * 9, 9 do
  local held = redis.call('HMGET', key(0, ARGV[a]), 'token', 'seq')
  local seq, last = tonumber(ARGV[a + 2]), tonumber(held[2] or 0)
  if held[1] ~= ARGV[a + 1] or seq > last + 1 then gone[#gone + 1] = ARGV[a]
  elseif seq == last + 1 then fresh[#fresh + 1] = ARGV[a] end
end
if #gone > 1 then return gone end
if #fresh > 1 and #fresh <= shards then return fresh end -- calls are whole: these were lost
local entry, size = {'call', call}, 0
for a = 9, #fresh > 1 and 8 + shards * 9 or 0, 9 do
  local s = ARGV[a]
  redis.call('XADD', key(2, s), ARGV[a + 2] .. '-1', 'rows', ARGV[a + 3])
  redis.call('HSET', key(0, s), 'seq', ARGV[a + 2], 'pending', ARGV[a + 6], 'counts', ARGV[a + 7])
  if ARGV[a + 4] ~= '' then redis.call('XTRIM', key(1, s), 'MINID', ARGV[a + 4]) end
  redis.call('HINCRBY', key(0, s), 'inbox', 0 - ARGV[a + 5])
  if ARGV[a + 8] ~= '' then entry[#entry + 1], entry[#entry + 2] = s, ARGV[a + 8]; size = size + #ARGV[a + 8] end
end
for a = 9 + shards * 9, #fresh > 1 and #ARGV or 0, 2 do
  redis.call('XADD', key(1, ARGV[a]), '*', 'links', ARGV[a + 1])
  redis.call('HINCRBY', key(0, ARGV[a]), 'inbox', #ARGV[a + 1])
end
if #entry > 2 then redis.call('XADD', KEYS[2], '*', unpack(entry)) end
local full = redis.call('HINCRBY', KEYS[1], 'log_bytes', size) > tonumber(ARGV[7]) and 1 or 0
local open = targets
for a = 9, 8 + shards * 9, 9 do if ARGV[a + 6] ~= '0' then open = open + 1 end end
for a = 9 + shards * 9, #ARGV, 2 do
  if tonumber(redis.call('HGET', key(0, ARGV[a]), 'inbox')) > tonumber(ARGV[6]) then full = 1 end
end
for s = 0, (open == 0 or ARGV[8] == '1') and total - 1 or -1 do
  local held = redis.call('HMGET', key(0, s), 'pending', 'inbox')
  if tonumber(held[2] or 0) > tonumber(ARGV[6]) then full = 1 end
  if held[1] ~= '0' or redis.call('XLEN', key(1, s)) > 0 then open = open + 1 end
end
if open == 0 then redis.call('HSET', KEYS[1], 'status', 'finished') end
return {'OK', redis.call('HGET', KEYS[1], 'status'), full}
