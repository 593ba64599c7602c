#!/usr/bin/env bash
# How large the record of a traced run is, and how long its page takes to open in a browser.
# Budgets for 60 s at 10,000 transactions a second: record and page below 20 MB, open below 2 s.
#
# Opening is a whole start of headless Chromium that loads the page, runs its script, opens each
# timeline of it (with OPEN=all) and prints its document; an empty page says what of that is the
# browser's own start. Median of five.
#
# Usage: bench/html-open.sh [path of dbtime] [record, or options of a run to make one]
set -euo pipefail
dbtime=${1:-target/release/dbtime}
shift || true
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser)}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if [ $# = 1 ] && [ -d "$1" ]; then
    record=$1
else
    record=$dir/record
    [ $# -gt 0 ] || set -- values1 --target mariadb --connections 16 --rate 10000/s --time 60s --trace
    "$dbtime" run "$@" --quiet --out "$record" >"$dir/report.txt" || true
    sed -n 1,12p "$dir/report.txt"
fi

open_page() { # page: seconds of one start
    local begun ended
    begun=$(date +%s%N)
    "$browser" --headless --no-sandbox --disable-gpu --no-first-run \
        --disable-background-networking --user-data-dir="$dir/profile" \
        --dump-dom "file://$1" >"$dir/dom" 2>/dev/null
    ended=$(date +%s%N)
    echo $(((ended - begun) / 1000000))
}

median() { # page
    for _ in 1 2 3 4 5; do open_page "$1"; done | sort -n | sed -n 3p
}

page=$dir/page.html
cp "$record/report.html" "$page"
if [ "${OPEN:-}" = all ]; then
    # The policy of this copy goes, or it would not let a second script run.
    sed -i -e 's/<meta http-equiv[^>]*>//' \
        -e 's|</body>|<script>document.querySelectorAll("details").forEach(d => d.open = true)</script></body>|' \
        "$page"
fi
echo '<!DOCTYPE html><title>empty</title>' >"$dir/empty.html"
du -b "$record"/* | sort -n | awk '{ sub(".*/", "", $2); printf "%12d bytes  %s\n", $1, $2; sum += $1 }
    END { printf "%12d bytes  in all\n", sum }'
open_page "$dir/empty.html" >/dev/null # the profile
echo "empty page: $(median "$dir/empty.html") ms"
echo "report:     $(median "$page") ms"
