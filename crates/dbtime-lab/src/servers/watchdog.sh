# Ends a server and removes its folders when dbtime is gone without having done so.
#
# Arguments: the server's program, its folders. Standard input: a line "PID START SIGNAL" for each
# process that is to be ended with its group should dbtime die (the last one counts), "none" when
# there is none, "done" at a proper end. dbtime holds the other end: that it closes without "done" is
# how its death is noticed.
#
# Standard output and error are the marks of the folders, which are locked as long as this has them:
# nothing is ever printed there.
exec 3>&2 2>/dev/null
trap '' HUP INT TERM
program=$1
shift
pid=none start=0 signal=KILL
while read -r first second third; do
    pid=$first start=$second signal=$third
done
[ "$pid" != done ] || exit 0

# The same process still, and not dead already: numbers are dealt anew.
is_alive() {
    read -r stat <"/proc/$pid/stat" || return 1
    set -- ${stat##*) }
    [ "$1" != Z ] && [ "${20}" = "$start" ]
}

# The processes of the server, and of what makes its data, that live in the folders.
residents() {
    for process in /proc/[0-9]*; do
        case $(readlink "$process/exe") in
        "$program" | "${program%/*}/initdb") ;;
        *) continue ;;
        esac
        home=$(readlink "$process/cwd") || continue
        for folder in "$@"; do
            case $home in
            "$folder" | "$folder "* | "$folder"/*) echo "${process#/proc/}" ;;
            esac
        done
    done
}

# Sends a signal to processes. Arguments: the signal, the processes.
signal_all() {
    sent=$1
    shift
    for process in "$@"; do
        kill -s "$sent" "$process"
    done
}

# What PostgreSQL has in shared memory, which not all of its programs remove when told to end: files,
# also one that is just being made, and segments by their numbers. Arguments: the processes.
note_shared() {
    for process in "$@"; do
        for open in "/proc/$process/fd"/*; do
            case $(readlink "$open") in
            /dev/shm/PostgreSQL.*) files="$files $(readlink "$open")" ;;
            esac
        done
        while read -r _ _ _ _ number file _; do
            case $file in
            /dev/shm/PostgreSQL.*) files="$files $file" ;;
            /SYSV*) segments="$segments $number" ;;
            esac
        done <"/proc/$process/maps"
    done
}

# Lists of processes and files are words.
# shellcheck disable=SC2046,SC2086
end_all() {
    files= segments=
    if [ "$pid" != none ] && is_alive; then
        # While they stand still, nothing is added. dbtime must be gone altogether, or stand by: the
        # kernel lets a group go on when the parent that could have done so dies.
        sleep 0.1
        kill -s STOP -- "-$pid"
        sleep 0.1
        found=$(residents "$@")
        note_shared $found
        kill -s "$signal" -- "-$pid"
        kill -s CONT -- "-$pid"
        signal_all CONT $found
        tries=50
        while [ "$tries" -gt 0 ] && is_alive; do
            sleep 0.1
            tries=$((tries - 1))
        done
    fi
    # What its leader has left of the group, and one that was being started when dbtime died.
    found=$(residents "$@")
    if [ -n "$found" ]; then
        signal_all STOP $found
        sleep 0.1
        found=$(residents "$@")
        note_shared $found
        signal_all KILL $found
    fi
    # What was being written may come back once.
    rm -rf -- "$@" || { sleep 1; rm -rf -- "$@"; }
    rm -f -- $files
    for segment in $segments; do
        ipcrm -m "$segment"
    done
}

end_all "$@"
