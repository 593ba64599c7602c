#!/bin/sh
# Installs the Debian packages named on the command line, those that are missing.
#
#   scripts/setup-debian.sh gcc libc6-dev
#
# Quiet when nothing is missing. Needs root, or sudo; without apt it says what to install by hand.
set -eu

missing=
for package in "$@"; do
    case $(dpkg -s "$package" 2>/dev/null | grep '^Status:') in
    *' installed') ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    # Elsewhere the packages have other names: what counts is that their programs are there.
    echo "setup: this system has no apt-get; make sure that you have:$missing" >&2
    for package in $missing; do
        case $package in
        gcc | libc6-dev) program=cc ;;
        # Headers have no program: the build says what it misses.
        *-dev) continue ;;
        *) program=$package ;;
        esac
        command -v "$program" >/dev/null 2>&1 && continue
        echo "setup: error: there is no \`$program\`: install it and try again" >&2
        exit 1
    done
    exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "setup: error: missing packages:$missing" >&2
    echo "setup: installing them needs root: run \`apt-get install$missing\` as root" >&2
    exit 1
fi

echo "setup: installing$missing" >&2
log=$(mktemp)
# A new PostgreSQL brings up a server of the system's own, which nobody asked for here. Only the
# program is wanted: that is said while it is being installed, and not to later installations.
no_cluster=
case $missing in
*' postgresql'*) no_cluster=/etc/postgresql-common/createcluster.d/dbtime-setup.conf ;;
esac
# Neither is a web server to be started, which nginx is as it is installed: Debian starts nothing as
# long as this file forbids it, unless the system has one of its own, which holds.
no_service=
case $missing in
*' nginx'*) [ -e /usr/sbin/policy-rc.d ] || no_service=/usr/sbin/policy-rc.d ;;
esac
clean_up() {
    rm -f "$log"
    [ -z "$no_cluster" ] || $as_root rm -f "$no_cluster"
    [ -z "$no_service" ] || $as_root rm -f "$no_service"
}
trap clean_up EXIT
if [ -n "$no_cluster" ]; then
    $as_root mkdir -p "${no_cluster%/*}"
    echo 'create_main_cluster = false' | $as_root tee "$no_cluster" >/dev/null
fi
if [ -n "$no_service" ]; then
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$no_service" >/dev/null
    $as_root chmod 755 "$no_service"
fi
install_missing() {
    # shellcheck disable=SC2086 # words are wanted
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing >"$log" 2>&1
}
# The lists may be missing or old: only then are they fetched.
if ! install_missing; then
    $as_root apt-get update >/dev/null 2>&1 || true
    if ! install_missing; then
        grep '^E:' "$log" | sed 's|[a-z]*://[^ ]*|(address)|g' >&2 || true
        echo "setup: error: could not install$missing" >&2
        exit 1
    fi
fi
