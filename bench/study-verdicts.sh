#!/usr/bin/env bash
# Whether the verdicts of `dbtime study` are right where the truth is known, on a private MariaDB:
# two configurations that are the same must not differ, and a statement that does 5 % more work must
# be called slower, with its size inside the interval.
#
# Usage: bench/study-verdicts.sh [path of dbtime]
# Variables: BLOCKS (10), LENGTH (5 seconds of each run)
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"

gate='[gate]
foreign-cpu = "50%"
steal = "5%"
wait = "10s"
'

# A study of that name, and one of its figures: the verdict, or the interval of the change.
study() {
    "$dbtime" study run "$folder/$1.toml" --blocks "${BLOCKS:-10}" --out "$folder/$1" --quiet --json \
        >"$folder/$1.json" || fail "the study $1 failed"
    python3 - "$folder/$1.json" <<'END'
import json, sys
study = json.load(open(sys.argv[1]))
one = study["comparisons"][0]
primary = one["comparison"]["metrics"][0]
print(one["verdict"])
print("change, %%: %.2f, from %.2f to %.2f" % tuple(primary["change_pct"]))
END
}

printf '%s\n' "run = \"tpcb --target mariadb --connections 16 --warmup 2s --time ${LENGTH:-5}s\"" \
    '[design]' 'control = false' "$gate" '[[cell]]' 'name = "one"' '[[cell]]' 'name = "other"' \
    >"$folder/same.toml"
echo 'The same twice:'
study same | tee "$folder/same.out"
grep -qE '^(other: )?(Same|Undecided|Real but small)' "$folder/same.out" || fail 'the same is said to differ'

bench() { echo "query='DO BENCHMARK($1, SHA2(1, 256))'"; }
printf '%s\n' "run = \"--target mariadb --connections 4 --warmup 1s --time ${LENGTH:-5}s\"" \
    '[design]' 'control = false' "$gate" '[factors.work]' "less = \"$(bench 40000)\"" \
    "more = \"$(bench 42000)\"" >"$folder/slower.toml"
echo '5 % more work, which is 4.76 % less throughput:'
study slower | tee "$folder/slower.out"
python3 - "$folder/slower.json" <<'END' || fail 'the planted change is not inside the interval'
import json, sys
change, low, high = json.load(open(sys.argv[1]))["comparisons"][0]["comparison"]["metrics"][0]["change_pct"]
sys.exit(not (low <= 100 * (40 / 42 - 1) <= high and high < 0))
END
