-- Report hooks: the ready-made ones, and one of the script's own.

function event()
end

local ready = {
  csv = sysbench.report_csv, json = sysbench.report_json, default = sysbench.report_default,
}

sysbench.hooks.report_intermediate = sysbench.opt and ready[sysbench.opt.report]

function sysbench.hooks.report_cumulative(stat)
  print("total", stat.events, sysbench.tid)
  assert(stat.events < 100, "too many")
end
