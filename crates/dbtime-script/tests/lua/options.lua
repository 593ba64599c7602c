-- Options of every type.

local cmdline = sysbench.cmdline

cmdline.options = {
  size = { "how many", 5 },
  ready = { "whether", true },
  names = { "which", { "a", "b" } },
  bytes = { "how much", 1024, cmdline.ARG_SIZE },
  whole = { "without a fraction", 3, cmdline.ARG_INT, function(name, text)
    assert(name == "whole")
    return tonumber(text) > 0
  end },
  plain = { "without default" },
  file = { "a file", nil, cmdline.ARG_FILE },
}

function event()
end
