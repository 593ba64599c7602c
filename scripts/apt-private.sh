# apt-get with sources, lists and state of its own, beside those of the system, for the scripts
# beside it, which source this. Nothing is installed.

# Where what is fetched for tests is kept: DBTIME_VERSIONS, else a cache folder of this user.
# Servers do not run as root: that of root is one that other users may enter.
fetched_folder() {
    if [ "$(id -u)" -eq 0 ]; then
        echo "${DBTIME_VERSIONS:-/var/cache/dbtime/versions}"
    else
        echo "${DBTIME_VERSIONS:-${XDG_CACHE_HOME:-$HOME/.cache}/dbtime/versions}"
    fi
}

# The mirror that the system uses, and its suite.
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
        awk '$2 !~ /-/ { print; found = 1; exit } END { exit !found }'
}

# Begins anew in a folder: deb or deb-src, mirror, suite. Sets `apt`.
apt_begin() {
    apt=$1
    mkdir -p "$apt/state" "$apt/lists/partial" "$apt/cache/archives/partial"
    echo "$2 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $3 $4 main" \
        >"$apt/sources.list"
    : >"$apt/status"
    apt_here update
}

apt_here() {
    with_apt_here apt-get -qq -y --no-install-recommends "$@" >&2
}

apt_cache_here() {
    with_apt_here apt-cache "$@"
}

with_apt_here() {
    program=$1
    shift
    "$program" "-oDir::State=$apt/state" "-oDir::State::Lists=$apt/lists" \
        "-oDir::State::status=$apt/status" "-oDir::Etc::sourcelist=$apt/sources.list" \
        -oDir::Etc::sourceparts=/dev/null -oDir::Etc::main=/dev/null \
        -oDir::Etc::parts=/dev/null "-oDir::Cache=$apt/cache" -oAPT::Sandbox::User=root \
        -oAcquire::Languages=none "$@"
}
