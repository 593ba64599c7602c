//! Reports that pgbench 15 was seen to give.

use super::super::options::{PgbenchCommand, read};
use super::*;

fn benchmark(line: &str) -> BenchmarkOptions {
    match read(line.split_whitespace()) {
        Ok(PgbenchCommand::Benchmark(benchmark)) => *benchmark,
        other => panic!("{line}: {other:?}"),
    }
}

/// Values with this mean and deviation, in milliseconds.
fn moments(count: u64, mean: f64, deviation: f64) -> RunningMoments {
    let (mean, deviation) = (mean * THOUSAND, deviation * THOUSAND);
    let sum_of_squares = (deviation * deviation + mean * mean) * count as f64;
    RunningMoments { count, sum: mean * count as f64, sum_of_squares, least: 0.0, most: 0.0 }
}

fn processed(processed: u64) -> PgbenchCounts {
    PgbenchCounts { completed: processed, ..PgbenchCounts::default() }
}

fn command(text: &str, mean: f64, failures: u64, retries: u64) -> CommandOutcome {
    let latency = if mean > 0.0 { moments(1, mean, 0.0) } else { RunningMoments::default() };
    CommandOutcome { text: text.into(), latency, failures, retries }
}

/// A run of one script with these figures.
fn outcome(total: PgbenchCounts, duration_s: f64, connecting_s: f64) -> PgbenchOutcome {
    PgbenchOutcome { scale: 1, total, duration_s, connecting_s, ..PgbenchOutcome::default() }
}

#[test]
fn a_number_of_transactions_is_reported() {
    let outcome = outcome(processed(10), 0.005_255, 0.003_935);
    let expected = "\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 2
number of threads: 1
maximum number of tries: 1
number of transactions per client: 5
number of transactions actually processed: 10/10
number of failed transactions: 0 (0.000%)
latency average = 1.051 ms
initial connection time = 3.935 ms
tps = 1902.949572 (without initial connection time)
";
    assert_eq!(report(&benchmark("-t 5 -c 2"), &outcome), expected);
}

#[test]
fn partitions_stand_below_the_scaling_factor() {
    let partitions = Some(PartitionScheme::Range(3));
    let outcome = PgbenchOutcome { partitions, ..outcome(processed(1), 0.002_138, 0.002_599) };
    let expected = "\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
partition method: range
partitions: 3
query mode: simple
";
    assert!(report(&benchmark("-t 1 -n"), &outcome).starts_with(expected));
}

#[test]
fn connections_for_each_transaction_are_reported() {
    let outcome = outcome(processed(483), 1.001_184, 0.926_877);
    let expected = "\
transaction type: <builtin: select only>
scaling factor: 1
query mode: simple
number of clients: 2
number of threads: 1
maximum number of tries: 1
duration: 1 s
number of transactions actually processed: 483
number of failed transactions: 0 (0.000%)
latency average = 4.146 ms
average connection time = 1.919 ms
tps = 482.428804 (including reconnection times)
";
    assert_eq!(report(&benchmark("-T 1 -C -n -S -c 2"), &outcome), expected);
}

#[test]
fn a_rate_and_a_limit_are_reported() {
    let latency = moments(970, 0.737, 0.202);
    let lag = RunningMoments { most: 849.0, ..moments(970, 0.093, 0.0) };
    let total = PgbenchCounts { late: 95, latency, lag, ..processed(970) };
    let commands = vec![
        command("\\set aid random(1, 100000 * :scale)", 0.002, 0, 0),
        command("END;", 0.2, 0, 0),
    ];
    let scripts = vec![ScriptOutcome { tally: total, commands }];
    let outcome = PgbenchOutcome { scripts, ..outcome(total, 1.994_608, 0.004_216) };
    let expected = "\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 2
number of threads: 1
maximum number of tries: 1
duration: 2 s
number of transactions actually processed: 970
number of failed transactions: 0 (0.000%)
number of transactions skipped: 0 (0.000%)
number of transactions above the 1.0 ms latency limit: 95/970 (9.794%)
latency average = 0.737 ms
latency stddev = 0.202 ms
rate limit schedule lag: avg 0.093 (max 0.849) ms
initial connection time = 4.216 ms
tps = 486.311095 (without initial connection time)
statement latencies in milliseconds and failures:
         0.002           0  \\set aid random(1, 100000 * :scale)
         0.200           0  END;
";
    let text = report(&benchmark("-T 2 -R 500 -L 1 -P 1 -n -c 2 -r"), &outcome);
    assert_eq!(text, expected);
}

#[test]
fn failures_and_retries_are_reported() {
    let total = PgbenchCounts {
        serialization_failures: 149,
        retried: 331,
        retries: 2062,
        latency: moments(748, 5.306, 5.768),
        ..processed(748)
    };
    let commands = vec![
        command("\\sleep 2 ms", 2.069, 0, 0),
        command("UPDATE pgbench_branches SET bbalance = 1;", 0.105, 149, 2065),
    ];
    let outcome = PgbenchOutcome {
        scripts: vec![ScriptOutcome { tally: total, commands }],
        ..outcome(total, 1.994_788, 0.007_137)
    };
    let expected = "\
transaction type: ser.sql
scaling factor: 1
query mode: simple
number of clients: 4
number of threads: 1
maximum number of tries: 10
duration: 2 s
number of transactions actually processed: 748
number of failed transactions: 149 (16.611%)
number of serialization failures: 149 (16.611%)
number of deadlock failures: 0 (0.000%)
number of transactions retried: 331 (36.901%)
total number of retries: 2062
latency average = 5.306 ms
latency stddev = 5.768 ms
initial connection time = 7.137 ms
tps = 374.977191 (without initial connection time)
statement latencies in milliseconds, failures and retries:
         2.069           0           0  \\sleep 2 ms
         0.105         149        2065  UPDATE pgbench_branches SET bbalance = 1;
";
    let options = "-T 2 -n -c 4 -f ser.sql --max-tries=10 -r -P 1 --failures-detailed";
    assert_eq!(report(&benchmark(options), &outcome), expected);
}

#[test]
fn without_a_limit_of_tries_there_is_no_line_of_it_and_failures_are_in_the_mean() {
    let total = PgbenchCounts { serialization_failures: 100, ..processed(900) };
    let text = report(&benchmark("-T 2 --max-tries=0"), &outcome(total, 2.0, 0.0));
    assert!(text.contains("number of threads: 1\nduration: 2 s\n"), "{text}");
    assert!(text.contains("latency average = 2.000 ms (including failures)\n"), "{text}");
}

/// The first of three scripts had all the failures, the second was never taken.
fn several() -> PgbenchOutcome {
    let first = PgbenchCounts {
        serialization_failures: 165,
        skipped: 2,
        retried: 186,
        retries: 186,
        latency: moments(293, 3.987, 1.197),
        ..processed(293)
    };
    let third = PgbenchCounts { skipped: 2, latency: moments(431, 1.375, 0.814), ..processed(431) };
    let mut total = first;
    total.merge(&third);
    total.late = 268;
    total.lag = RunningMoments { most: 2476.0, ..moments(724, 0.166, 0.0) };
    let script = |tally| ScriptOutcome { tally, commands: vec![command("select 1;", 0.0, 0, 0)] };
    let scripts = [first, PgbenchCounts::default(), third].map(script).to_vec();
    PgbenchOutcome { scripts, ..outcome(total, 2.996_867, 0.007_738) }
}

#[test]
fn several_scripts_are_reported_one_by_one() {
    let expected = "\
number of transactions actually processed: 724
number of failed transactions: 165 (18.477%)
number of transactions retried: 186 (20.829%)
total number of retries: 186
number of transactions skipped: 4 (0.448%)
number of transactions above the 3.0 ms latency limit: 268/724 (37.017%)
latency average = 2.432 ms
latency stddev = 1.618 ms
rate limit schedule lag: avg 0.166 (max 2.476) ms
initial connection time = 7.738 ms
tps = 241.585629 (without initial connection time)
SQL script 1: ser.sql
 - weight: 1 (targets 50.0% of total)
 - 293 transactions (40.5% of total, tps = 97.768770)
 - number of failed transactions: 165 (35.870%)
 - number of transactions retried: 186 (40.435%)
 - total number of retries: 186
 - number of transactions skipped: 2 (0.435%)
 - latency average = 3.987 ms
 - latency stddev = 1.197 ms
SQL script 2: a.sql
 - weight: 0 (targets 0.0% of total)
 - 0 transactions (0.0% of total, tps = 0.000000)
 - number of failed transactions: 0 (NaN%)
 - number of transactions retried: 0 (NaN%)
 - total number of retries: 0
SQL script 3: <builtin: TPC-B (sort of)>
 - weight: 1 (targets 50.0% of total)
 - 431 transactions (59.5% of total, tps = 143.816859)
 - number of failed transactions: 0 (0.000%)
 - number of transactions retried: 0 (0.000%)
 - total number of retries: 0
 - number of transactions skipped: 2 (0.462%)
 - latency average = 1.375 ms
 - latency stddev = 0.814 ms
";
    let options = "-T 3 -P 1 -f ser.sql -f a.sql@0 -b tpcb -R 300 -L 3 -c 4 --max-tries=2 -j 2";
    let text = report(&benchmark(options), &several());
    let (head, rest) = text.split_at(text.find("number of transactions actually").unwrap_or(0));
    assert_eq!(rest, expected);
    assert!(head.starts_with("transaction type: multiple scripts\n"), "{head}");
}

#[test]
fn commands_of_several_scripts_stand_below_each() {
    let expected = " - number of failed transactions: 0 (NaN%)
 - statement latencies in milliseconds and failures:
         0.000           0  select 1;
SQL script 3";
    let options = "-T 3 -f ser.sql -f a.sql@0 -b tpcb -r";
    assert!(report(&benchmark(options), &several()).contains(expected));
}

#[test]
fn where_nothing_was_done_the_report_ends_early() {
    let expected = "\
transaction type: e.sql
scaling factor: 1
query mode: simple
number of clients: 2
number of threads: 1
maximum number of tries: 1
number of transactions per client: 2
number of transactions actually processed: 0/4
number of failed transactions: 0 (NaN%)
";
    let text =
        report(&benchmark("-t 2 -c 2 -f e.sql"), &outcome(PgbenchCounts::default(), 1.0, 0.0));
    assert_eq!(text, expected);
}

#[test]
fn where_everything_was_skipped_there_is_no_latency() {
    let total =
        PgbenchCounts { serialization_failures: 1, skipped: 199, ..PgbenchCounts::default() };
    let expected = "\
number of transactions actually processed: 0/200
number of failed transactions: 1 (0.500%)
number of transactions skipped: 199 (99.500%)
number of transactions above the 0.5 ms latency limit: 0/0 (0.000%)
rate limit schedule lag: avg NaN (max 0.000) ms
initial connection time = 1.847 ms
tps = 0.000000 (without initial connection time)
";
    let options = benchmark("-t 200 -f f.sql -R 100000 -L 0.5");
    assert!(report(&options, &outcome(total, 1.0, 0.001_847)).ends_with(expected));
}

#[test]
fn progress_tells_what_the_run_asks_for() {
    let latency = moments(515, 0.835, 0.691);
    let tally =
        PgbenchCounts { latency, lag: moments(515, 0.127, 0.0), skipped: 3, ..processed(515) };
    let line = |options: &str| progress(&benchmark(options), 1.0, 1.0, &tally);
    let basic = "progress: 1.0 s, 515.0 tps, lat 0.835 ms stddev 0.691, 0 failed";
    assert_eq!(line("-P 1"), format!("{basic}\n"));
    assert_eq!(line("-P 1 -L 5"), format!("{basic}\n"));
    assert_eq!(line("-P 1 -R 500"), format!("{basic}, lag 0.127 ms\n"));
    let tally = PgbenchCounts {
        latency: moments(236, 2.268, 1.52),
        lag: moments(236, 0.167, 0.0),
        serialization_failures: 50,
        skipped: 2,
        retried: 54,
        retries: 54,
        ..processed(236)
    };
    let options = benchmark("-P 1 -R 300 -L 3 --max-tries=2 --progress-timestamp");
    assert_eq!(
        progress(&options, 1_795_286_756.071, 1.0, &tally),
        "progress: 1795286756.071 s, 236.0 tps, lat 2.268 ms stddev 1.520, 50 failed, lag 0.167 \
         ms, 2 skipped, 54 retried, 54 retries\n"
    );
}

#[test]
fn progress_without_transactions_is_zeros() {
    assert_eq!(
        progress(&benchmark("-P 1 -R 1 -L 3"), 1.0, 1.0, &PgbenchCounts::default()),
        "progress: 1.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed, lag 0.000 ms, 0 skipped\n"
    );
}

#[test]
fn an_interval_is_a_difference() {
    let earlier = PgbenchCounts { retries: 2, latency: moments(3, 1.0, 0.0), ..processed(3) };
    let mut now = earlier;
    now.merge(&PgbenchCounts {
        deadlock_failures: 1,
        latency: moments(2, 4.0, 0.0),
        ..processed(2)
    });
    let interval = now.since(&earlier);
    assert_eq!((interval.completed, interval.failures(), interval.retries), (2, 1, 0));
    assert_eq!((interval.total(), interval.latency.mean()), (3, 4000.0));
}

#[test]
fn the_banner_names_the_server_where_it_is_known() {
    assert!(banner(Some("15.18")).ends_with(", server 15.18)\n"));
    assert!(banner(None).starts_with("pgbench (dbtime "));
}
