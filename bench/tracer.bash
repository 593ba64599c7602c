# A tracer beside a load, for the scripts beside it, which source this behind servers.bash.

# Starts `dbtime trace` of $server with the options given, and waits until it watches. Sets `tracer`
# and `helper`, its processes.
begin_tracer() {
    # What an earlier one said is not to be taken for this one's word.
    rm -f "$folder/trace.err"
    "$dbtime" trace -p "$server" "$@" >"$folder/trace" 2>"$folder/trace.err" &
    tracer=$!
    wait_for watching "$folder/trace.err"
    helper=$(helper_of "$tracer")
}

end_tracer() {
    kill -INT "$tracer"
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

# The process that attaches for a tracer.
helper_of() {
    local children
    children=$(cat "/proc/$1/task/$1/children")
    echo "${children% }"
}

# CPU time of both processes, in ticks of the kernel.
tracer_ticks() {
    cat "/proc/$tracer/stat" "/proc/$helper/stat" | awk '{ sum += $14 + $15 } END { print sum }'
}

# Their CPU since they had used so many ticks, in percent of one CPU, over so many seconds.
tracer_cpu() {
    awk -v ticks=$(($(tracer_ticks) - $1)) -v s="$2" -v hz="$(getconf CLK_TCK)" \
        'BEGIN { printf "%.1f", 100 * ticks / hz / s }'
}

# The most memory that both have had, in MB.
tracer_peak() {
    cat "/proc/$tracer/status" "/proc/$helper/status" |
        awk '/^VmHWM/ { sum += $2 } END { printf "%.1f", sum / 1024 }'
}

# Requests that were not handed on, by its own word in a file.
tracer_dropped() {
    sed -n 's/^stream .* \([0-9,]*\) dropped$/\1/p' "$1" | tr -d ,
}
