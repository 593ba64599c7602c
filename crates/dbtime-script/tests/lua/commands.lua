-- Commands of a script's own.

local function say() print("said", sysbench.tid) end

sysbench.cmdline.commands = {
  say = { say, sysbench.cmdline.PARALLEL_COMMAND },
  refuse = { function() return false end },
  fail = { function() error("failed") end },
}

function help()
  print("no help", sysbench.cmdline.command)
end
