#!/bin/sh
# Fetches pgbench's own tests, which `make test-versions` runs with `dbtime pgbench` in its place:
# of Debian's source package of PostgreSQL 15, unpacked to a folder, the tests and the modules that
# they use. Prints the folder; progress and trouble go to stderr.
#
# PGBENCH_TESTS=FOLDER names an unpacked source of PostgreSQL 15 instead, and nothing is fetched.
# DBTIME_VERSIONS=FOLDER is where they are kept, as for versions.sh.
set -eu

package=postgresql-15
. "${0%/*}/apt-private.sh"
versions=$(fetched_folder)
final=${PGBENCH_TESTS:-$versions/tests-of-$package}

say() {
    echo "pgbench-tests: $*" >&2
}

# Fetches the source package by a suite of Debian, from the mirror in use and with lists of its own.
# The security suite has the newest, which a mirror may not have.
fetch() {
    rm -rf "$versions"/apt/source-*
    apt_begin "$versions/apt/source-$1" deb-src "$2" "$1" || return 1
    mkdir "$apt/source"
    (cd "$apt/source" && apt_here source --download-only "$package")
}

sh "${0%/*}/setup-debian.sh" libipc-run-perl bzip2
if ! [ -d "$final/src/bin/pgbench/t" ]; then
    [ -z "${PGBENCH_TESTS:-}" ] || { say "error: no pgbench tests in $final"; exit 1; }
    mirror=$(debian_mirror) || { say "error: apt-get knows no mirror"; exit 1; }
    mirror=${mirror% *}
    say "fetching the source of $package"
    fetch bookworm-security "${mirror%/}-security" || fetch bookworm "$mirror" ||
        { say "error: the source of $package cannot be had here"; exit 1; }
    archive=$(find "$apt/source" -name '*.orig.tar.*' ! -name '*.asc')
    rm -rf "$final.part"
    mkdir -p "$final.part"
    tar -xf "$archive" -C "$final.part" --strip-components=1 --no-same-owner \
        --wildcards '*/src/bin/pgbench/t' '*/src/test/perl'
    rm -rf "$versions"/apt/source-*
    mv "$final.part" "$final"
fi
echo "$final"
