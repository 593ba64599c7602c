#!/bin/sh
# Boots a kernel under qemu on this machine's own files, which the guest may read and not change,
# runs a script there and powers off.
#
#   scripts/kernels/boot.sh KERNEL SHARED SCRIPT
#
# KERNEL is a folder of scripts/kernels/fetch.sh. SHARED is the one folder that both see and the
# guest writes to, as /shared there; SCRIPT lies in it. What the script prints goes to SHARED/log, and
# its exit code to SHARED/code; the console to SHARED/console. There is no hardware virtualization in
# it, so that it works within virtual machines: the guest is ten times slower than this machine. Its
# two CPUs take turns: where each is a thread, one may execute code that the other has just changed
# as it was before, and kernels that switch a tracepoint on or off end with a panic (seen on 6.12).
#
# DBTIME_GUEST_SECONDS ends the guest by force, by default after an hour.
set -eu

kernel=$1 shared=$2 script=$3
ramdisk=$(mktemp -d "${TMPDIR:-/tmp}/dbtime-ramdisk.XXXXXX")
guest=
leave() {
    [ -z "$guest" ] || { kill "$guest" && wait "$guest"; } 2>/dev/null || true
    rm -rf "$ramdisk"
}
trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$ramdisk/bin" "$ramdisk/modules" "$ramdisk/host" "$ramdisk/memory" "$ramdisk/system" \
    "$ramdisk/proc" "$ramdisk/sys" "$ramdisk/dev"
cp /bin/busybox "$ramdisk/bin/busybox"
cp "$kernel"/modules/* "$ramdisk/modules" 2>/dev/null || true

# Modules are tried until none is left that can be loaded: their order is that of their needs.
cat >"$ramdisk/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for pass in 1 2 3 4 5; do
    for module in /modules/*.ko; do
        [ -f "$module" ] && $b insmod "$module" 2>/dev/null && $b rm "$module"
    done
done
share=trans=virtio,version=9p2000.L,msize=262144
$b mount -t 9p -o $share,ro,cache=loose host /host
$b mount -t tmpfs -o size=75% tmpfs /memory
$b mkdir /memory/upper /memory/work
$b mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work overlay /system
$b mkdir -p /system/shared /system/run
$b mount -t tmpfs tmpfs /system/run
$b mount -t 9p -o $share,rw,cache=none shared /system/shared
for folder in proc sys dev; do
    $b mount -o move /$folder /system/$folder
done
exec $b switch_root /system /bin/sh /shared/guest.sh
INIT
chmod +x "$ramdisk/init"
(cd "$ramdisk" && find . | cpio -o -H newc --quiet | gzip -1) >"$shared/ramdisk.gz"

cat >"$shared/guest.sh" <<GUEST
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
mkdir -p /dev/shm /dev/pts /tmp
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t tmpfs tmpfs /sys/fs/cgroup
mkdir /sys/fs/cgroup/cpu /sys/fs/cgroup/unified
mount -t cgroup -o cpu cgroup /sys/fs/cgroup/cpu
mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified
chmod 1777 /dev/shm /tmp
ip link set lo up
sh "/shared/$script" >/shared/log 2>&1
echo \$? >/shared/code
sync
echo o >/proc/sysrq-trigger
sleep 60
GUEST

rm -f "$shared/code"
timeout --kill-after 5 "${DBTIME_GUEST_SECONDS:-3600}" \
    qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 -m 4G -nographic -no-reboot \
    -kernel "$kernel/vmlinuz" -initrd "$shared/ramdisk.gz" \
    -append 'console=ttyS0 quiet panic=-1 mitigations=off' \
    -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
    -virtfs "local,path=$shared,mount_tag=shared,security_model=none" \
    </dev/null >"$shared/console" 2>&1 &
guest=$!
# The shell hears a signal while it waits.
wait "$guest" || true
guest=
[ -f "$shared/code" ] || {
    echo "kernels: the guest did not end; its console: $shared/console" >&2
    exit 1
}
exit "$(cat "$shared/code")"
