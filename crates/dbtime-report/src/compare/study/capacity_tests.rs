//! Studies whose capacity is known: the text, the page and the document of them.

use super::*;
use crate::compare::study_document;
use crate::terminal::PageStyle;
use dbtime_model::record::RunRecord;
use dbtime_stats::ScalabilityLaw;

/// A peak at 56 connections.
const LAW: ScalabilityLaw = ScalabilityLaw { lambda: 800.0, sigma: 0.06, kappa: 3e-4 };

fn number(flags: &str, name: &str) -> f64 {
    let word = flags.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    word.and_then(|value| value.trim_end_matches("/s").parse().ok()).expect("a number")
}

/// A run with so much throughput, half a percent more or less by its block.
fn run(tps: f64, block: u32) -> RunRecord {
    let tps = tps * (1.0 + 0.005 * (f64::from(block) - 2.0));
    let mut record = RunRecord { throughput_tps: tps, ..RunRecord::default() };
    let response = &mut record.latency_us.response;
    (response.mean, response.p50, response.p99) = (9e6 / tps, 8e6 / tps, 30e6 / tps);
    record
}

fn scaled(flags: &str, block: u32) -> RunRecord {
    let factor = if flags.contains("sync=off") { 1.5 } else { 1.0 };
    run(factor * LAW.throughput(number(flags, "connections")), block)
}

fn levels(others: &[&str], all: &[u32]) -> Vec<String> {
    let of = |other: &str| {
        let cell = |n: &u32| format!("connections={n} {other}").trim_end().to_owned();
        all.iter().map(cell).collect::<Vec<_>>()
    };
    others.iter().flat_map(|other| of(other)).collect()
}

fn compared(cells: &[String], run: impl Fn(&str, u32) -> RunRecord) -> StudyComparison {
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    StudyComparison::of(&sample::study(&cells, run))
}

fn text(study: &StudyComparison) -> String {
    let text = study_document(study).text(PageStyle::default());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    text
}

#[test]
fn a_law_is_found_with_its_peak_and_shown() {
    let study = compared(&levels(&[""], &[1, 4, 16, 64, 256]), scaled);
    let [series] = &study.capacity.scalability[..] else { panic!("{:?}", study.capacity) };
    let fitted = series.fitted.as_ref().expect("five levels");
    let peak = fitted.peak_n.expect("256 is beyond it");
    assert!((peak / 56.0 - 1.0).abs() < 0.02, "{peak}");
    assert!(fitted.steps.iter().all(|step| step.residual_pct.abs() < 0.1 && step.runs == 3));
    let shown = text(&study);
    for part in [
        "scalability   highest at 56 connections (95 % CI 5",
        "One client alone would do 800.0/s",
        "6.00 % of the",
        "By the law",
        "Response over throughput",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let page = study_document(&study).html();
    for part in
        ["id=\"scaling-0-title\"", "peak at 56", "id=\"latency-0-title\"", "class=\"shade\""]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_peak_that_no_level_is_beyond_is_not_named() {
    let study = compared(&levels(&[""], &[1, 2, 4, 8, 16]), scaled);
    assert_eq!(study.capacity.scalability[0].answer, "no peak up to 16 connections");
    let study = compared(&levels(&[""], &[1, 2, 4]), scaled);
    let answer = &study.capacity.scalability[0].answer;
    assert_eq!(answer, "fewer than four levels of connections have runs: no law is fitted");
}

/// Thread pools are not the law's: at 2,048 connections nearly everything is lost.
#[test]
fn a_collapse_is_said_to_be_no_law() {
    let study = compared(&levels(&[""], &[1, 8, 64, 512, 2048]), |flags, block| {
        let n = number(flags, "connections");
        run(if n > 2000.0 { 900.0 } else { 100.0 * n.min(60.0) }, block)
    });
    let answer = &study.capacity.scalability[0].answer;
    assert!(answer.starts_with("does not follow the law"), "{answer}");
    assert!(answer.contains("512 (") && answer.contains("% above)"), "{answer}");
    assert!(text(&study).contains("misfit"));
}

/// The throughput of an open loop is what it is offered.
#[test]
fn rates_are_a_latency_curve_and_no_scalability() {
    let cells: Vec<String> = [500, 1000, 2000].iter().map(|n| format!("rate={n}/s")).collect();
    let study = compared(&cells, |flags, block| run(number(flags, "rate"), block));
    assert_eq!(study.capacity.scalability, []);
    let [series] = &study.capacity.latency_throughput[..] else { panic!("{:?}", study.capacity) };
    assert_eq!((series.factor.as_str(), series.runs.len()), ("rate", 9));
    let open = compared(&levels(&[""], &[1, 2, 4, 8]), |flags, block| {
        let mut record = scaled(flags, block);
        record.load.rate_tps = Some(500.0);
        record
    });
    assert_eq!(open.capacity.scalability, []);
    assert_eq!(open.capacity.latency_throughput.len(), 1);
}

#[test]
fn two_crossed_factors_are_a_map_and_lines_and_a_series_of_each_level() {
    let cells = levels(&["sync=on", "sync=off"], &[1, 4, 16, 64]);
    let study = compared(&cells, scaled);
    let names: Vec<&str> =
        study.capacity.scalability.iter().map(|series| series.others.as_str()).collect();
    assert_eq!(names, ["sync=on", "sync=off"]);
    let crossed = study.capacity.crossed.as_ref().expect("two factors");
    assert_eq!(crossed.names, ["connections", "sync"]);
    assert_eq!(crossed.levels[0], ["1", "4", "16", "64"]);
    let off = crossed.cells.iter().find(|cell| cell.cell == "connections=1 sync=off");
    let [change, low, high] = off.and_then(|cell| cell.change_pct).expect("a change");
    assert!((change - 50.0).abs() < 1e-6 && low <= change && change <= high);
    let page = study_document(&study).html();
    for part in ["id=\"effects-title\"", "baseline</text>", "+50.0 %</text>", "id=\"interaction-"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("connections=1, sync=off: +50.0 %"), "named by its levels");
    assert!(page.contains("its interval excludes 0") && page.contains("<h3>sync=off</h3>"));
    // One of them is missing.
    let study = compared(&cells[..7], scaled);
    assert_eq!(study.capacity.crossed, None);
}
