//! Reports that sysbench 1.0.20 was seen to give, and the patterns by which others read them.

use super::super::histogram::{BucketCounts, SysbenchHistogram};
use super::super::options::CommandArguments;
use super::*;
use regex::Regex;

const MILLISECOND: u64 = 1_000_000;

/// Latencies whose every percentile is that of one value, in milliseconds.
fn latencies(value: f64) -> BucketCounts {
    let histogram = SysbenchHistogram::default();
    histogram.record(value);
    histogram.counts()
}

fn moment(totals: &StatsTotals, total_s: f64, interval_s: f64) -> IntervalReport<'_> {
    IntervalReport {
        totals,
        interval_s,
        total_s,
        threads: 2,
        percentile: 95,
        queue: None,
        is_sql: true,
    }
}

fn read_write() -> StatsTotals {
    let shares = [(954, 2_996_770_000), (1047, 2_996_770_000)];
    StatsTotals {
        begun: 0,
        events: 2001,
        reads: 28028,
        writes: 8006,
        other: 4003,
        errors: 1,
        reconnects: 0,
        latency_ns: 5_993_540_000,
        least_ns: 890_000,
        most_ns: 69_610_000,
        latencies: latencies(7.297),
        shares: shares.map(|(events, latency_ns)| ClientShare { events, latency_ns }).to_vec(),
    }
}

const READ_WRITE: &str = "SQL statistics:
    queries performed:
        read:                            28028
        write:                           8006
        other:                           4003
        total:                           40037
    transactions:                        2001   (665.62 per sec.)
    queries:                             40037  (13317.96 per sec.)
    ignored errors:                      1      (0.33 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          3.0048s
    total number of events:              2001

Latency (ms):
         min:                                    0.89
         avg:                                    3.00
         max:                                   69.61
         95th percentile:                        7.30
         sum:                                 5993.54

Threads fairness:
    events (avg/stddev):           1000.5000/46.50
    execution time (avg/stddev):   2.9968/0.00

";

#[test]
fn the_final_blocks_are_those_of_sysbench() {
    let totals = read_write();
    let moment = moment(&totals, 3.0048, 3.006_241);
    assert_eq!(cumulative(&moment, CompatMode::V1_0), READ_WRITE);
}

#[test]
fn compat_1_1_has_a_throughput_block() {
    let totals = read_write();
    let moment = moment(&totals, 8.0, 3.006_241);
    let expected = READ_WRITE.replace(
        "General statistics:
    total time:                          3.0048s
",
        "Throughput:
    events/s (eps):                      665.6153
    time elapsed:                        3.0062s
",
    );
    assert_eq!(cumulative(&moment, CompatMode::V1_1), expected);
}

#[test]
fn without_a_database_there_are_no_sql_statistics() {
    let share = ClientShare { events: 1, latency_ns: 3_458_327_000 };
    let totals = StatsTotals {
        events: 3000,
        latency_ns: 10_374_982_070_000,
        least_ns: 3_400_030_000,
        most_ns: 3_549_940_000,
        latencies: latencies(3511.19),
        shares: vec![share; 3],
        ..StatsTotals::default()
    };
    let moment = IntervalReport { is_sql: false, ..moment(&totals, 3.6909, 3.6909) };
    let expected = "
General statistics:
    total time:                          3.6909s
    total number of events:              3000

Latency (ms):
         min:                                 3400.03
         avg:                                 3458.33
         max:                                 3549.94
         95th percentile:                     3511.19
         sum:                             10374982.07

Threads fairness:
    events (avg/stddev):           1.0000/0.00
    execution time (avg/stddev):   3.4583/0.00

";
    assert_eq!(cumulative(&moment, CompatMode::V1_0), expected);
}

#[test]
fn percentiles_of_one_two_and_three_digits_and_none_stand_in_line() {
    let totals = StatsTotals::default();
    let line = |percentile| {
        let text = latency(&IntervalReport { percentile, ..moment(&totals, 1.0, 1.0) });
        text.lines().nth(5).expect("a line").to_owned()
    };
    let expected = [
        "         percentile stats:               disabled",
        "          1th percentile:                        0.00",
        "         99th percentile:                        0.00",
        "        100th percentile:                        0.00",
    ];
    assert_eq!([0, 1, 99, 100].map(line), expected);
}

#[test]
fn interval_lines_are_those_of_sysbench() {
    let totals = StatsTotals {
        events: 667,
        reads: 9374,
        writes: 2670,
        other: 1337,
        errors: 1,
        latencies: latencies(7.985),
        ..StatsTotals::default()
    };
    let expected = "[ 1s ] thds: 2 tps: 666.81 qps: 13377.19 (r/w/o: 9371.33/2669.24/1336.62) \
                    lat (ms,95%): 7.98 err/s: 1.00 reconn/s: 0.00\n";
    let at = moment(&totals, 1.0003, 1.000_285);
    assert_eq!(interval(&at), expected);
    let totals = StatsTotals { events: 12, latencies: latencies(200.47), ..StatsTotals::default() };
    let at = IntervalReport { is_sql: false, threads: 3, ..moment(&totals, 1.0, 1.0025) };
    assert_eq!(interval(&at), "[ 1s ] thds: 3 eps: 11.97 lat (ms,95%): 200.47\n");
}

#[test]
fn an_open_loop_tells_its_queue_and_percentiles_may_be_off() {
    let totals = StatsTotals { events: 45, ..StatsTotals::default() };
    let queue = Some(QueueReport { length: 3, concurrency: 2 });
    let at = IntervalReport { queue, percentile: 0, ..moment(&totals, 3.0, 1.0) };
    let expected = "[ 3s ] thds: 2 tps: 45.00 qps: 0.00 (r/w/o: 0.00/0.00/0.00) lat (ms,0%): 0.00 \
                    err/s: 0.00 reconn/s: 0.00\n[ 3s ] queue length: 3, concurrency: 2\n";
    assert_eq!(interval(&at), expected);
    assert_eq!(checkpoint_heading(&at), "[ 3s ] Checkpoint report:\n");
}

#[test]
fn the_histogram_ends_in_a_line_with_a_blank() {
    let expected = "
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       7.297 |**************************************** 1
 _
";
    let bars = latencies(7.3).bars();
    assert_eq!(format!("{HISTOGRAM}{bars} \n"), expected[1..].replace('_', ""));
}

fn general_options(line: &str) -> GeneralOptions {
    let arguments = CommandArguments::read(line.split_whitespace(), |_| Ok(String::new()));
    arguments.expect("a line").before_script().expect("options").general
}

#[test]
fn a_run_says_first_what_it_was_asked() {
    let expected = "\
Running the test with following options:
Number of threads: 2
Initializing random number generator from current time


";
    assert_eq!(opening(&general_options("--threads=2")), expected);
    let line = "--rate=100 --report-interval=3 --report-checkpoints=1,2 --debug --validate \
                --rand-seed=5 --forced-shutdown=4";
    let expected = "\
Running the test with following options:
Number of threads: 1
Target transaction rate: 100/sec
Report intermediate results every 3 second(s)
Report checkpoint(s) at 1, 2 seconds
Debug mode enabled.

Validation checks: on.

Initializing random number generator from seed (5).

Forcing shutdown in 14 seconds

";
    assert_eq!(opening(&general_options(line)), expected);
    assert!(banner(CompatMode::V1_0).starts_with("sysbench 1.0.20 ("));
}

#[test]
fn the_patterns_that_others_read_reports_by_match() {
    let totals = read_write();
    let at = moment(&totals, 3.0048, 3.006_241);
    let text =
        interval(&at) + &cumulative(&at, CompatMode::V1_0) + &cumulative(&at, CompatMode::V1_1);
    let patterns = [
        (r"tps: ([0-9.]+)", "665.62"),
        (r"qps: ([0-9.]+)", "13317.96"),
        (r"\[\s*(\d+)s\s*\]", "3"),
        (r"thds: (\d+)", "2"),
        (r"\(r/w/o: ([\d.]+)/[\d.]+/[\d.]+\)", "9323.27"),
        (r"lat \(ms,95%\): ([\d.]+)", "7.30"),
        (r"err/s:? ([\d.]+)", "0.33"),
        (r"read:\s+(\d+)", "28028"),
        (r"transactions:\s+(\d+)\s+\([\d.]+ per sec\.\)", "2001"),
        (r"transactions:\s+\d+\s+\(([\d.]+) per sec\.\)", "665.62"),
        (r"queries:\s+\d+\s+\(([\d.]+) per sec\.\)", "13317.96"),
        (r"ignored errors:\s+(\d+)", "1"),
        (r"total time:\s+([\d.]+)s", "3.0048"),
        (r"total number of events:\s+(\d+)", "2001"),
        (r"events/s \(eps\):\s+([\d.]+)", "665.6153"),
        (r"time elapsed:\s+([\d.]+)s", "3.0062"),
        (r"(?s)Latency \(ms\):.*?avg:\s+([\d.]+)", "3.00"),
        (r"95th percentile:\s+([\d.]+)", "7.30"),
        (r"max:\s+([\d.]+)", "69.61"),
        (r"events \(avg/stddev\):\s+([\d.]+)/", "1000.5000"),
    ];
    for (pattern, expected) in patterns {
        let found = Regex::new(pattern).expect("a pattern").captures(&text);
        let found = found.unwrap_or_else(|| panic!("{pattern} finds nothing"));
        assert_eq!(&found[1], expected, "{pattern}");
    }
}

#[test]
fn nothing_counted_gives_zeros() {
    let totals = StatsTotals::default();
    let text = cumulative(&moment(&totals, 0.0, 0.0), CompatMode::V1_1);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

#[test]
fn latencies_are_shown_in_milliseconds() {
    let totals = StatsTotals { events: 2, latency_ns: 3 * MILLISECOND, ..StatsTotals::default() };
    assert!(
        latency(&moment(&totals, 1.0, 1.0))
            .contains("avg:                                    1.50")
    );
}
