-- The run id of the server, which is new after each restart: the beginning of every other script.
local function run_id() return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') end
