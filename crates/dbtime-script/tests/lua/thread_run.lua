-- A loop of the script's own in place of sysbench's.

local ffi = require("ffi")
ffi.cdef("bool sb_more_events(int); void sb_event_start(int); void sb_event_stop(int);")

function thread_run(tid)
  rounds = 0
  while ffi.C.sb_more_events(tid) do
    ffi.C.sb_event_start(tid)
    rounds = rounds + 1
    ffi.C.usleep(rounds)
    if sysbench.opt.stops then
      ffi.C.sb_event_stop(tid)
    end
    if rounds == sysbench.opt.most then
      return
    end
  end
end

function thread_done()
  print("rounds", rounds)
end
