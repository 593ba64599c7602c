# A tracer beside a load, for the scripts beside it, which source this behind servers.bash.

# Starts `dbtime trace` of $server with the options given, and waits until it watches. Sets `tracer`,
# its process, `helper`, the one that attaches for it, and `watchers`, all of them.
begin_tracer() {
    # What an earlier one said is not to be taken for this one's word.
    rm -f "$folder/trace.err"
    "$dbtime" trace -p "$server" "$@" >"$folder/trace" 2>"$folder/trace.err" &
    tracer=$!
    wait_for watching "$folder/trace.err"
    watchers=$(descendants "$tracer")
    helper=${watchers##* }
    [ "$helper" != "$tracer" ] || fail 'the tracer has no helper'
}

end_tracer() {
    # A script's job ignores Ctrl-C.
    kill -TERM "$tracer"
    wait "$tracer" || true
}

# Waits until a file holds a word of the program that was started last.
wait_for() {
    for _ in $(seq 500); do
        grep -qs "$1" "$2" && return
        kill -0 "$tracer" || break
        sleep 0.02
    done
    fail "the tracer: $(cat "$folder/trace.err")"
}

# A process and its line of children: the tracer, its reader, the reader's helper. (Older tracers
# are their own readers.)
descendants() {
    local process=$1 all=$1
    # The list does not end with a line's end, which `read` takes for a failure.
    while process=$(cut -d' ' -f1 "/proc/$process/task/$process/children") && [ -n "$process" ]; do
        all="$all $process"
    done
    echo "$all"
}

# A file of /proc of each of these processes.
of_watchers() {
    local process
    for process in $watchers; do cat "/proc/$process/$1"; done
}

# CPU time of all of them, in ticks of the kernel.
tracer_ticks() {
    of_watchers stat | awk '{ sum += $14 + $15 } END { print sum }'
}

# Their CPU since they had used so many ticks, in percent of one CPU, over so many seconds.
tracer_cpu() {
    awk -v ticks=$(($(tracer_ticks) - $1)) -v s="$2" -v hz="$(getconf CLK_TCK)" \
        'BEGIN { printf "%.1f", 100 * ticks / hz / s }'
}

# The most memory that all of them have had, in MB. Pages that they share count for each.
tracer_peak() {
    of_watchers status |
        awk '/^VmHWM/ { sum += $2 } END { printf "%.1f", sum / 1024 }'
}

# Requests that were not handed on, by its own word in a file.
tracer_dropped() {
    sed -n 's/^stream .* \([0-9,]*\) dropped$/\1/p' "$1" | tr -d ,
}
