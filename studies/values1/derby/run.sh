#!/bin/sh
# One run: a network server of Derby $VERSION, new and empty, and the client for $WARMUP and $WINDOW
# seconds. $SERVER_FLAGS are the server's.
set -eu
cd "$(dirname "$0")"
test -e lib/Values1.class || {
    echo "Derby is missing: sh studies/values1/derby/fetch.sh fetches it (needs a JDK and Maven)" >&2
    exit 1
}
home=$(mktemp -d)
port=${DERBY_PORT:-11527}
jars="lib/$VERSION/derby-$VERSION.jar:lib/$VERSION/derbynet-$VERSION.jar"
# shellcheck disable=SC2086  # the flags are words
java "-Dderby.system.home=$home" -cp "$jars" org.apache.derby.drda.NetworkServerControl \
    start -h 127.0.0.1 -p "$port" $SERVER_FLAGS >"$home/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$home"' EXIT
tries=0
until java -cp "$jars" org.apache.derby.drda.NetworkServerControl ping -h 127.0.0.1 -p "$port" \
    >"$home/ping.log" 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -ge 20 ] || ! kill -0 "$server" 2>/dev/null; then
        echo "Derby $VERSION does not answer at port $port:" >&2
        cat "$home/server.log" "$home/ping.log" >&2
        exit 1
    fi
    sleep 0.2
done
java -cp "lib:lib/$VERSION/derbyclient-$VERSION.jar" Values1 "$port" "$WARMUP" "$WINDOW"
