#!/usr/bin/env bash
# What each test takes of the CPU, with all servers and tracers that it starts: a runner for cargo,
# as root, where control groups of version 1 count CPU time.
#
#   CPU_LOG=$PWD/cpu.tsv CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$PWD/bench/test-cpu.sh make test
#
# (On other machines the variable has their name: CARGO_TARGET_AARCH64_…)
# A line for each test: its arguments, user and system time, in nanoseconds.
set -u

case "$*" in *--list*) exec "$@" ;; esac
group=/sys/fs/cgroup/cpuacct/dbtime-test-$$
mkdir "$group" || exit 1
(
    echo "$BASHPID" >"$group/tasks"
    exec "$@"
)
code=$?
printf '%s\t%s\t%s\n' "$*" "$(cat "$group/cpuacct.usage_user")" \
    "$(cat "$group/cpuacct.usage_sys")" >>"${CPU_LOG:?names a file}"
# What a test has left behind keeps its group.
rmdir "$group" 2>/dev/null
exit "$code"
