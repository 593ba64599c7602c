-- Report hooks: the ready-made ones, and one of the script's own.

function event()
end

function init()
  begun = (begun or 0) + 1
end

function sysbench.hooks.report_intermediate(stat)
  sysbench["report_" .. sysbench.opt.report](stat)
end

function sysbench.hooks.report_cumulative(stat)
  print("total", stat.events, sysbench.tid, begun)
  assert(stat.events < 100, "too many")
end
