#!/bin/sh
# Builds the tracer's programs for every kind of machine with Debian's clang, into the folder that is
# named, or beside the sources. What is committed has to be what this builds: `--check` says whether
# it is. Needs clang-14, llvm-14 and libbpf-dev.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
check=
if [ "${1:-}" = --check ]; then
    check=yes
    shift
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
else
    out=${1:-$here/built}
fi
mkdir -p "$out"
cd "$here"

# The objects hold no path and no time: built twice they are the same to the byte.
build() {
    clang-14 -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter \
        -Wno-missing-declarations -D"__TARGET_ARCH_$1" -I"/usr/include/$(uname -m)-linux-gnu" \
        -fdebug-prefix-map="$here"=. -c "$3.bpf.c" -o "$out/$3.$2.bpf.o"
    llvm-strip-14 -g "$out/$3.$2.bpf.o"
}
for programs in capture scheduler; do
    build x86 x86_64 $programs
    build arm64 aarch64 $programs
done

if [ -n "$check" ]; then
    for object in "$out"/*; do
        cmp "$object" "built/$(basename "$object")" || {
            echo "bpf/built is not what clang makes of the sources: run bpf/build.sh" >&2
            exit 1
        }
    done
fi
