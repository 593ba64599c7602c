# Ends a server and removes its folders when dbtime is gone without having done so.
#
# Arguments: the folders. Standard input: a line "PID START SIGNAL" for each process that is to be
# ended should dbtime die (the last one counts), "none" when there is none, "done" at a proper end.
# dbtime holds the other end: that it closes without "done" is how its death is noticed.
trap '' HUP INT TERM
pid=none start=0 signal=KILL
while read -r first second third; do
    pid=$first start=$second signal=$third
done
[ "$pid" != done ] || exit 0

# The same process still, and not dead already: numbers are dealt anew.
is_alive() {
    read -r stat 2>/dev/null <"/proc/$pid/stat" || return 1
    set -- ${stat##*) }
    [ "$1" != Z ] && [ "${20}" = "$start" ]
}

if [ "$pid" != none ] && is_alive; then
    kill -s CONT -- "-$pid"
    kill -s "$signal" "$pid"
    tries=50
    while [ "$tries" -gt 0 ] && is_alive; do
        sleep 0.1
        tries=$((tries - 1))
    done
    is_alive && kill -s KILL -- "-$pid"
fi 2>/dev/null
# What was being written may come back once.
rm -rf -- "$@" 2>/dev/null || { sleep 1; rm -rf -- "$@" 2>/dev/null; }
