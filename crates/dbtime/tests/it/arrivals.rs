//! Loads of every shape on the null engine: what is offered, counted, dropped and queued.

use crate::sandbox::{Sandbox, count, counts_add_up, number};
use serde_json::Value;

/// A run on null that is fine and whose counts add up.
fn on_null(line: &str) -> Value {
    fine_in(&Sandbox::new(), line)
}

/// The same in a sandbox, whatever it is on.
fn fine_in(sandbox: &Sandbox, line: &str) -> Value {
    let json = sandbox.run(&format!("run {line} --warmup 0s --no-record --json")).fine().json();
    counts_add_up(&json);
    json
}

/// Offered is what the schedule says, give or take the spread of its kind.
fn offers(line: &str, wanted: f64, within: f64) -> Value {
    let json = on_null(&format!("values1 --target null {line} --time 500ms"));
    let offered = number(&json, "/counts/offered");
    assert!((offered - wanted).abs() <= within, "{line}: {offered} instead of {wanted}");
    assert_eq!(
        (json["load"]["mode"].as_str(), json["basis"].as_str()),
        (Some("open"), Some("response"))
    );
    json
}

#[test]
fn open_loops_offer_their_rate() {
    let steady = offers("--rate 1000/s", 500.0, 1.0);
    assert_eq!(number(&steady, "/load/jitter_us"), 100.0);
    assert_eq!(number(&steady, "/load/rate_tps"), 1000.0);
    let jitter = offers("--rate 1000/s --jitter 200us", 500.0, 1.0);
    assert_eq!(number(&jitter, "/load/jitter_us"), 200.0);
    // Five standard deviations of a Poisson count of 1000.
    let poisson = offers("--rate 2k/s --arrivals poisson", 1000.0, 160.0);
    assert_eq!(poisson["load"]["arrivals"], "poisson");
    assert_eq!(poisson["load"]["jitter_us"], Value::Null);
    offers("--rate 1000/s --arrivals uniform", 500.0, 60.0);
    let burst = offers("--rate 1000/s --arrivals burst:20", 500.0, 20.0);
    assert_eq!(burst["load"]["arrivals"], "burst:20");
}

#[test]
fn rates_that_change_offer_their_mean() {
    let steps = offers("--rate 0s:400/s,250ms:2000/s", 600.0, 3.0);
    assert_eq!(number(&steps, "/load/rate_tps"), 1200.0);
    assert_eq!(steps["load"]["rate"], "0s:400/s,0.25s:2000/s");
    let ramp = offers("--rate ramp:200/s..1800/s", 500.0, 3.0);
    assert_eq!(number(&ramp, "/load/rate_tps").round(), 1000.0);
}

#[test]
fn at_once_all_are_due_at_the_start() {
    let service = "'null:?service=20ms'";
    let line = format!("values1 --target {service} --arrivals at-once --workers 4");
    let json = on_null(&format!("{line} --transactions 40"));
    assert_eq!((count(&json, "/counts/offered"), count(&json, "/counts/completed")), (40, 40));
    assert_eq!(json["load"]["rate_tps"], Value::Null);
    // Ten rounds of four: the mean waits for four and a half, and longer on a busy machine. Where
    // the driver has no CPU, that wait is lag.
    let mean = |of: &str| number(&json, &format!("/latency_us/{of}/mean"));
    let (queue, lag) = (mean("queue"), mean("lag"));
    assert!(queue > 0.0 && queue + lag >= 85e3, "queue {queue}, lag {lag}");
    // No more than four workers can do, and all of them within seconds.
    let tps = number(&json, "/throughput_tps");
    assert!((2.0..=200.0).contains(&tps), "{tps}");
}

#[test]
fn what_was_never_sent_has_done_nothing_but_wait() {
    // A shard and a pool, which leave most of what was due.
    let sandbox = Sandbox::new();
    sandbox.write("slow.toml", SLOW);
    for load in [
        "values1 --target null:?service=10ms --connections 2 --rate 100k/s",
        "slow.toml --connections 2 --rate 10k/s",
    ] {
        let json = fine_in(&sandbox, &format!("{load} --time 300ms --budget-every 1"));
        let counts = &json["counts"];
        assert!(count(counts, "/unfinished") > count(counts, "/offered") / 2, "{load}: {counts}");
        let part = |name: &str| number(&json, &format!("/budget_us/{name}"));
        let total = part("total");
        assert!(part("client") < 0.01 * total, "{load}: {}", json["budget_us"]);
        assert!(part("unexplained").abs() < 0.01 * total, "{load}: {}", json["budget_us"]);
        // Where the driver had no CPU they waited for that.
        let waited = part("queue") + part("lag");
        assert!(waited > 0.9 * total, "{load}: {}", json["budget_us"]);
        assert!(part("queue") > 0.1 * total, "{load}: {}", json["budget_us"]);
    }
}

/// It takes long, and no CPU.
const SLOW: &str = r#"
name = "slow"
[[operation]]
name = "wait"
[[operation.statement]]
sql = "SELECT 1"
pause = "100ms"
"#;

#[test]
fn a_number_of_transactions_is_kept_exactly() {
    for load in ["", "--connections 7", "--workers 3", "--rate 2000/s", "--rate 2000/s --shards 2"]
    {
        for engine in ["null", "sqlite"] {
            if engine == "sqlite" && load.contains("--shards") {
                continue;
            }
            let line = format!("values1 --target {engine} {load} --transactions 333");
            let json = on_null(&format!("{line} --budget-every 1"));
            assert_eq!(count(&json, "/counts/offered"), 333, "{line}");
            assert_eq!(count(&json, "/counts/completed"), 333, "{line}");
        }
    }
}

#[test]
fn a_backlog_is_dropped_where_that_is_asked_for() {
    // One connection takes 100 of 1000 a second.
    let line = "values1 --target 'null:?service=10ms' --rate 1000/s --connections 1 --time 500ms";
    let drop = on_null(&format!("{line} --on-backlog drop"));
    let (dropped, offered) = (number(&drop, "/counts/dropped"), number(&drop, "/counts/offered"));
    assert!(dropped / offered > 0.8 && dropped < offered, "{}", drop["counts"]);
    // A driver without a CPU drops later than at the deadline, and waits itself.
    let mut tried = (0..8).map(|_| {
        let deadline = on_null(&format!("{line} --on-backlog deadline:50ms"));
        assert!(count(&deadline, "/counts/dropped") > 300, "{}", deadline["counts"]);
        let queue = |of: &str| number(&deadline, &format!("/latency_us/queue/{of}"));
        (queue("p50"), queue("p90"))
    });
    let mut seen = Vec::new();
    let is_kept = tried.any(|(p50, p90)| {
        seen.push((p50, p90));
        p50 > 30e3 && p90 < 55e3
    });
    assert!(is_kept, "the deadline was missed eight times: {seen:?}");
    // Nothing is dropped where the rate is carried.
    let carried = on_null("values1 --target null --rate 1000/s --time 300ms --on-backlog drop");
    assert_eq!(number(&carried, "/counts/failed"), 0.0);
}

#[test]
fn what_waits_is_served_in_the_rundown_or_counted_unfinished() {
    let line = "values1 --target 'null:?service=5ms' --rate 1000/s --connections 2 --time 300ms";
    let wait = on_null(line);
    assert_eq!(count(&wait, "/counts/offered"), 300);
    assert_eq!(count(&wait, "/counts/dropped"), 0);
    // 300 of 5 ms on two connections: all are served 450 ms after the window.
    assert_eq!(count(&wait, "/counts/unfinished"), 0);
    assert!(number(&wait, "/latency_us/response/max") > 300e3);
    assert!(number(&wait, "/window/rundown_s") > 0.3);
}

#[test]
fn the_same_seed_gives_the_same_mix() {
    let sandbox = Sandbox::new();
    sandbox.write("mix.toml", MIX);
    let mix = |seed: u64, load: &str| -> Vec<u64> {
        let line = format!(
            "run ./mix.toml --target null --transactions 3000 --seed {seed} {load} --no-record --json"
        );
        let json = sandbox.run(&line).fine().json();
        counts_add_up(&json);
        let operations = json["operations"].as_array().expect("operations");
        operations.iter().map(|operation| count(operation, "/count")).collect()
    };
    let first = mix(1, "");
    assert_eq!(first.iter().sum::<u64>(), 3000);
    // Neither time nor the number of clients, workers and shards changes it.
    for load in ["", "--connections 9", "--workers 4 --connections 12", "--rate 20k/s --shards 3"] {
        assert_eq!(mix(1, load), first, "{load}");
    }
    assert_ne!(mix(2, ""), first);
}

const MIX: &str = r#"
name = "mix"
[[operation]]
name = "often"
weight = 3
[[operation.statement]]
sql = "SELECT 1"
[[operation]]
name = "seldom"
weight = 1
[[operation.statement]]
sql = "SELECT 2"
"#;

#[test]
fn clients_of_a_pool_queue_for_its_workers() {
    let service = "values1 --target 'null:?service=2ms' --connections 8 --time 400ms";
    let pool = on_null(&format!("{service} --workers 2"));
    assert_eq!((pool["basis"].as_str(), count(&pool, "/load/workers")), (Some("response"), 2));
    // Three of four wait for a worker. Where its thread gets no CPU, that wait is lag.
    let mean = |of: &str| number(&pool, &format!("/latency_us/{of}/mean"));
    let (queue, lag) = (mean("queue"), mean("lag"));
    assert!(queue > 0.0 && queue + lag > 4e3, "queue {queue}, lag {lag}");
    let alone = on_null(service);
    assert_eq!(alone["basis"], "service");
    assert_eq!(number(&alone, "/latency_us/queue/max"), 0.0);
    assert_eq!(alone["load"]["workers"], Value::Null);
}

#[test]
fn think_times_are_kept_and_checked() {
    let sandbox = Sandbox::new();
    let line =
        "run values1 --target null --warmup 0s --connections 400 --time 1s --no-record --json";
    let mut checks = Vec::new();
    let mut fixed = || {
        let ran = sandbox.run(&format!("{line} --think 200ms"));
        let json = ran.json();
        counts_add_up(&json);
        assert_eq!(number(&json, "/operations/0/think/requested_us"), 200e3);
        assert_eq!(number(&json, "/load/think_us"), 200e3);
        let completed = number(&json, "/counts/completed");
        assert!(completed <= 2000.0, "{completed}");
        let check = &json["operations"][0]["limits"][0];
        checks.push(check.clone());
        // That the driver was late decides nothing where no limit is set.
        ran.exits(0);
        // Of fewer than a thousand nothing is said.
        if check.is_null() {
            return false;
        }
        assert_eq!(check["metric"], "think");
        check["passed"] == Value::Bool(true)
    };
    // A busy machine wakes the clients late.
    assert!((0..5).any(|_| fixed()), "think times were off five times: {checks:?}");
    // Where it keeps them from beginning, the short ones alone are over in time.
    let random = || {
        let json = sandbox.run(&format!("{line} --think exp:200ms")).json();
        number(&json, "/operations/0/think/requested_us")
    };
    let mut means = Vec::new();
    let is_near = (0..5).any(|_| {
        means.push(random());
        means.last().is_some_and(|mean| (140e3..220e3).contains(mean))
    });
    assert!(is_near, "the mean was off five times: {means:?}");
}

#[test]
fn auto_offers_a_share_of_what_is_carried_flat_out() {
    let sandbox = Sandbox::new();
    // Flat out means without think times.
    let text = "name = \"w\"\nthink = \"1s\"\n[[operation]]\nname = \"o\"\n\
                [[operation.statement]]\nsql = \"SELECT 1\"\npause = \"5ms\"\n";
    sandbox.write("w.toml", text);
    let line = "run w.toml --rate auto:40% --workers 1 --warmup 0s --time 500ms --no-record --json";
    let json = sandbox.run(line).fine().json();
    counts_add_up(&json);
    let flat_out = number(&json, "/load/auto/flat_out_tps");
    assert!(flat_out > 20.0 && flat_out <= 200.0, "{flat_out}");
    assert_eq!(json["load"]["rate"], "auto:40%");
    assert!((number(&json, "/load/rate_tps") - 0.4 * flat_out).abs() < 1e-6 * flat_out);
    let offered = number(&json, "/counts/offered");
    assert!((offered - 0.2 * flat_out).abs() <= 1.0, "{offered} of {flat_out}/s");
}
