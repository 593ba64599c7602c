-- The reports that scripts may set as hooks.

local rt = ...
local host = rt.host

local function rates(stat)
  local seconds = stat.time_interval
  local function rate(count) return count / seconds end
  return rate(stat.events), rate(stat.reads + stat.writes + stat.other), rate(stat.reads),
    rate(stat.writes), rate(stat.other), stat.latency_pct * 1000, rate(stat.errors),
    rate(stat.reconnects)
end

function rt.report_default(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  host.write(("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) "
    .. "lat (ms,%u%%): %4.2f err/s %4.2f reconn/s: %4.2f\n"):format(
    stat.time_total, stat.threads_running, tps, qps, reads, writes, other, host.percentile,
    latency, errors, reconnects))
end

function rt.report_csv(stat)
  host.write(("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f\n"):format(
    stat.time_total, stat.threads_running, rates(stat)))
end

local form = [[
  {
    "time": %4.0f,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]]

-- A list that is open has printed an entry and waits for another, or for its end.
local is_open = false

function rt.report_json(stat)
  host.write(is_open and ",\n" or "[\n")
  is_open = true
  host.write(form:format(stat.time_total, stat.threads_running, rates(stat)))
end

function rt.finish_reports()
  if is_open then
    host.write("\n]\n")
  end
  is_open = false
end
