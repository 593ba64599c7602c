#!/bin/sh
# Fetches kernels of Debian for scripts/kernels/test.sh, without installing them: of each its image
# and the modules that a guest takes to reach this machine's files. What is there is not fetched
# again.
#
#   scripts/kernels/fetch.sh 6.1 6.12
#
# Prints a line "NAME FOLDER" for each; progress and trouble go to stderr. They come from the mirror
# that apt-get uses here, and are kept in the folder that scripts/versions.sh keeps servers in.
set -eu

. "${0%/*}/../apt-private.sh"
folder=$(fetched_folder)/kernels

# Name, and the suite whose newest kernel it is.
suite_of() {
    case $1 in
    5.10) echo bullseye ;;
    6.1) echo bookworm ;;
    6.12) echo trixie ;;
    newest) echo sid ;;
    *) return 1 ;;
    esac
}

# What a guest's devices and its root take; of some kernels they are built in.
modules='virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci netfs fscache
9pnet 9pnet_virtio 9p overlay'

say() {
    echo "kernels: $*" >&2
}

# The packages that a suite's kernel is made of: newer ones have an image and its modules apart.
packages() {
    image=$(apt_cache_here depends linux-image-amd64 |
        awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2; exit }')
    [ -n "$image" ]
    echo "$image"
    apt_cache_here depends "$image" |
        awk '$1 == "Depends:" && $2 ~ /^linux-(binary|modules)-/ { print $2 }'
}

unpack() {
    dpkg-deb --fsys-tarfile "$2" | tar -x -C "$1/files" --no-same-owner
    find "$1/files" -name 'vmlinuz*' -type f -exec mv {} "$1/vmlinuz" \;
    for module in $modules; do
        find "$1/files" -name "$module.ko*" -type f -exec mv {} "$1/modules" \;
    done
    rm -rf "$1/files"/*
}

fetch() {
    mirror=$(debian_mirror) || { say "apt-get knows no mirror"; return 1; }
    mkdir -p "$1/files" "$1/modules"
    apt_begin "$folder/apt/$2" deb "${mirror% *}" "$2"
    for package in $(packages); do
        (cd "$1" && apt_here download "$package")
        for archive in "$1"/*.deb; do
            unpack "$1" "$archive"
            rm "$archive"
        done
    done
    rm -r "$1/files"
    find "$1/modules" -name '*.xz' -exec xz -d {} +
    [ -f "$1/vmlinuz" ]
}

mkdir -p "$folder"
failed=
for name in "$@"; do
    suite=$(suite_of "$name") || { say "error: there is no kernel $name"; exit 2; }
    if ! [ -d "$folder/$name" ]; then
        say "fetching $name"
        part=$folder/$name.part
        rm -rf "$part"
        mkdir "$part"
        # Its failure is looked at: `set -e` holds in a shell of its own alone.
        if ! (set -e; fetch "$part" "$suite"); then
            say "error: $name cannot be had here"
            rm -rf "$part"
            failed="$failed $name"
            continue
        fi
        mv "$part" "$folder/$name"
    fi
    echo "$name $folder/$name"
done
[ -z "$failed" ] || { say "missing:$failed"; exit 1; }
