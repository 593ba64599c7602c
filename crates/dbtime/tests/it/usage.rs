//! Flags that contradict each other or ask for the impossible: refused at once, with what to write.

use crate::sandbox::Sandbox;

/// Each line is refused with exit code 2 and these words, and leaves nothing behind.
fn are_refused(lines: &[(&str, &[&str])]) {
    let sandbox = Sandbox::new();
    for (line, told) in lines {
        let refused = sandbox.run(line).refused(2, told);
        assert!(refused.err.starts_with("dbtime: "), "{refused:?}");
        assert!(sandbox.left().is_empty(), "{line} left {:?}", sandbox.left());
    }
}

#[test]
fn contradictory_flags() {
    are_refused(&[
        ("run values1 --think 1ms --rate 5/s", &["--think is for a closed loop", "--rate"]),
        (
            "run values1 --think 1ms --arrivals at-once --transactions 5",
            &["--think is for a closed loop"],
        ),
        ("run values1 --arrivals poisson", &["--arrivals poisson needs --rate"]),
        ("run values1 --arrivals burst:5", &["--arrivals burst:5 needs --rate"]),
        ("run values1 --arrivals at-once", &["at-once needs --transactions"]),
        ("run values1 --arrivals poisson --rate 5/s --jitter 1ms", &["these are poisson"]),
        (
            "run values1 --arrivals at-once --transactions 5 --rate 5/s",
            &["--arrivals at-once takes no --rate"],
        ),
        ("run values1 --on-backlog drop", &["--on-backlog drop needs --rate"]),
        ("run values1 --jitter 1ms", &["--jitter needs --rate: a closed loop"]),
        ("run values1 --budget-every 4 --no-budget", &["--budget-every", "--no-budget"]),
        ("run values1 --out x --no-record", &["--out", "--no-record"]),
        ("run values1 --query 'SELECT 1'", &["--query", "WORKLOAD"]),
        ("report x --text --html y.html", &["--text", "--html"]),
        ("report x --histogram", &["--text"]),
        ("report x --details", &["--text"]),
        ("study report x --details --json", &["--details", "--json"]),
        ("compare x y --details --html z.html", &["--details", "--html"]),
        ("trace x --details", &["--summary"]),
        ("trace x --summary --details --markdown", &["--details", "--markdown"]),
        ("trace --summary --details", &["--details is for a recording", "leave it out"]),
        ("run values1 --details --print-spec", &["--details", "--print-spec"]),
    ]);
}

#[test]
fn impossible_rates() {
    are_refused(&[
        ("run values1 --rate 0/s", &["`0/s` is no rate: it is zero", "500/s"]),
        ("run values1 --rate=-5/s", &["`-5/s` is no rate: it is negative"]),
        ("run values1 --rate -5/s", &["`-5/s` is no rate: it is negative"]),
        ("run values1 --rate 500/fortnight", &["`/fortnight` is no unit", "500/s"]),
        ("run values1 --rate fast", &["`fast`", "500/s"]),
        ("run values1 --rate 1e9/s --target null", &["1000000000", "the limit is"]),
        ("run values1 --rate auto:x", &["`auto:x`", "auto:50%"]),
        ("run values1 --rate auto:0%", &["`auto:0%`"]),
        ("run values1 --rate auto:50", &["`auto:50`", "auto:50%"]),
        ("run values1 --rate ramp:100/s", &["ramp:100/s"]),
        ("run values1 --rate 0s:100/s,30x:500/s", &["30x"]),
    ]);
}

#[test]
fn bare_numbers_are_seconds_and_rates_per_second() {
    let line = "run values1 --target null:?service=0.001 --rate 200 --warmup 0 --time 0.5 \
                --limit p50<=1s --no-record --json";
    let run = Sandbox::new().run(line).fine();
    assert_eq!(run.json()["load"]["rate_tps"], 200.0);
    assert_eq!(run.json()["window"]["measure_s"], 0.5);
}

/// By a bare number people mean milliseconds there.
#[test]
fn times_of_transactions_have_a_unit() {
    are_refused(&[
        ("run values1 --limit p95<=5", &["`p95<=5` is not a limit", "`5ms` or `5s`"]),
        ("run values1 --find-rate p95<=5", &["`p95<=5` is not a limit", "`5ms` or `5s`"]),
        ("run values1 --think exp:10", &["--think", "`10` has no unit: write 10ms or 10s"]),
        ("run values1 --rate 9/s --jitter 2", &["--jitter", "write 2ms or 2s"]),
        ("run values1 --rate 9/s --on-backlog deadline:50", &["--on-backlog", "50ms or 50s"]),
        ("run values1 --statement-timeout 5", &["--statement-timeout", "5ms or 5s"]),
        ("run values1 --network-delay 5", &["--network-delay", "5ms or 5s"]),
        ("run values1 --sweep think=1ms,2", &["--think", "2ms or 2s"]),
        ("trace -p 1 --slow 5", &["--slow", "5ms or 5s"]),
        ("trace -p 1 --histogram --step 5", &["--step", "5ms or 5s"]),
    ]);
}

#[test]
fn what_is_for_scripts_wants_one() {
    let told: &[&str] = &["--script-set is for scripts", "--script FILE in place of a workload"];
    are_refused(&[
        ("run values1 --script-set x=1", told),
        ("run --script-set x=1", told),
        ("run --query VALUES(1) --script-set x=1", told),
    ]);
}

#[test]
fn values_of_no_known_unit_or_out_of_range() {
    are_refused(&[
        ("run values1 --time 5x", &["--time", "`5x` is no duration: `x` is no unit"]),
        ("run values1 --time 0s", &["--time 0 measures nothing"]),
        ("run values1 --time -1s", &["--time", "`-1s` is no duration: it is negative"]),
        ("run values1 --warmup ms", &["--warmup", "`ms` is no duration: it has no number"]),
        ("run values1 --think exp:", &["--think"]),
        ("run values1 --think uniform:15ms..5ms", &["--think", "uniform:5ms..15ms"]),
        ("run values1 --transactions 0", &["--transactions"]),
        ("run values1 --connections 0", &["--connections"]),
        ("run values1 --workers 0", &["--workers"]),
        ("run values1 --shards 65", &["--shards", "from 1 to 64, such as 4"]),
        ("run values1 --scale 0", &["--scale", "a whole number from 1 up, such as 10"]),
        ("run values1 --scale x", &["--scale", "a whole number from 1 up, such as 10"]),
        ("run values1 --sweep scale=x", &["--scale", "a whole number from 1 up, such as 10"]),
        ("run values1 --budget-every 0", &["--budget-every"]),
        ("run values1 --arrivals sometimes", &["`sometimes`", "steady"]),
        ("run values1 --rate 1000/s --jitter 1001us", &["--jitter", "the period of 1ms"]),
        ("run values1 --arrivals burst:0 --rate 5/s", &["burst:0"]),
        ("run values1 --on-backlog panic", &["`panic`", "deadline:50ms"]),
        ("run values1 --limit p90=<5ms", &["`p90=<5ms`", "`<=`"]),
        ("run values1 --limit p90<=5x", &["`p90<=5x`", "5ms"]),
        ("run values1 --limit fast", &["`fast`", "p90 <= 5ms"]),
        ("run atm --scale 92233720368547758", &["atm", "63 bits"]),
    ]);
}

#[test]
fn sweeps_that_make_no_sense() {
    are_refused(&[
        ("run values1 --sweep workers", &["`workers` cannot be swept", "workers=40,10,4"]),
        ("run values1 --sweep =4", &["cannot be swept"]),
        ("run values1 --sweep 'workers=1;'", &["empty group"]),
        ("run values1 --sweep out=a,b", &["`out=a,b` cannot be swept"]),
        ("run values1 --sweep workres=1,2", &["workres"]),
        ("run values1 --sweep print-spec=x", &["`print-spec=x` cannot be swept", "all runs"]),
        ("run values1 --sweep parent=1,2", &["`parent=1,2` cannot be swept", "a single run"]),
        ("run values1 --sweep no-budget=16", &["--no-budget is a switch", "no-budget=false"]),
        ("study ab values1 --a find-rate=p9<=1s --b workers=2", &["`find-rate` is no flag of"]),
        ("study ab values1 --a workers=1 --b strict", &["`strict` is no flag of", "leave it out"]),
        ("study ab values1 --a workers=1 --b workers=2 --sweep x=1", &["`sweep` is no flag of"]),
        ("run values1 --sweep workers=1,none", &["none", "--workers"]),
        ("run values1 --sweep 'rate=5/s think=1ms'", &["--think is for a closed loop"]),
        ("run values1 --sweep time=1s,0s", &["--time 0 measures nothing"]),
    ]);
}

#[test]
fn targets_that_are_none() {
    are_refused(&[
        ("run values1 --target oracle", &["`oracle` is no target", "sqlite:PATH"]),
        ("run values1 --target mysql:", &["write mysql for a private server"]),
        ("run values1 --target mysql:/u:x@h", &["`mysql:…` is no target", "mysql://USER@"]),
        ("run values1 --target sqlit:x", &["did you mean sqlite?"]),
        ("run values1 --target null:?servce=1ms", &["null:?service=1ms"]),
        ("run values1 --target sqlite:x?jornal_mode=wal", &["did you mean `journal_mode`?"]),
        ("run values1 --target sqlite:x?synchronous=fast", &["off, normal, full, extra"]),
        ("run values1 --target sqlite:x?busy_timeout=5", &["500ms"]),
        ("run values1 --target sqlite::memory:", &["/dev/shm"]),
        ("init atm --target null", &["nothing to init"]),
        ("init atm --target mysql://u@127.0.0.1:1/", &["names no database", "HOST/DATABASE"]),
        ("run atm --target mysql://u@127.0.0.1:1/", &["names no database"]),
        ("init atm --target sqlite", &["sqlite:PATH"]),
    ]);
}

#[test]
fn targets_in_the_place_of_files() {
    are_refused(&[
        ("run mysql://u:hush@h/d", &["`mysql://u:***@h/d` is a target", "with --target"]),
        ("trace mysql://u@h/d", &["`mysql://u@h/d` is a target", "with -p", "with --login"]),
        ("report postgres://u@h/d", &["RUN|SWEEP|STUDY takes a path", "target with --target"]),
        ("compare sqlite:a.db sqlite:b.db", &["`sqlite:a.db` is a target", "`dbtime run`"]),
    ]);
    // A file may have any name.
    let sandbox = Sandbox::new();
    sandbox.write("sqlite:a.db", "none");
    let ran = sandbox.run("counters sqlite:a.db sqlite:a.db");
    assert!(ran.code != Some(0) && !ran.err.contains("is a target"), "{ran:?}");
}

#[test]
fn a_host_that_is_not_known_is_the_environments() {
    let sandbox = Sandbox::new();
    for scheme in ["mysql", "mariadb", "postgres"] {
        let line = format!("run values1 --target {scheme}://u@no-such-host.invalid/d");
        let told = ["dbtime: cannot find the host no-such-host.invalid", "check its name"];
        sandbox.run(&line).refused(3, &told);
    }
}
