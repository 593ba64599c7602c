# What a guest of scripts/kernels/test.sh does: runs each test of a list and says how it went. Lies in
# the shared folder beside `list`, and the settings in `settings`.
. /shared/settings
mkdir -p -m 1777 /dev/shm/dbtime
export TMPDIR=/dev/shm/dbtime CI=true RUST_BACKTRACE=0 DBTIME_KERNEL_IS_LISTED=1
uname -r >/shared/release
failed=0
while read -r binary name; do
    case $binary in
    observe) cd "$workspace/crates/dbtime-observe" && program=$observe ;;
    it) cd "$workspace/crates/dbtime" && program=$it ;;
    esac
    before=$(cut -d . -f 1 /proc/uptime)
    timeout -s INT -k 5 "$patience" "$program" --exact "$name" --nocapture >/tmp/output 2>&1
    code=$?
    after=$(cut -d . -f 1 /proc/uptime)
    if [ "$code" -eq 0 ] && grep -q '1 passed' /tmp/output; then
        echo "ok      $((after - before)) s  $name"
    else
        echo "FAILED  $((after - before)) s  $name"
        cp /tmp/output "/shared/failed-$(echo "$name" | tr : -)"
        failed=1
    fi
    grep '^verified ' /tmp/output >>/shared/verified
done </shared/list
exit "$failed"
