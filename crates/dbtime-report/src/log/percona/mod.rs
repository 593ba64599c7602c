//! A digest in the shape that users of `pt-query-digest` know: a header, a profile of the classes
//! with most time, and a section for each of them, in lines that begin with `#` as comments do.

mod attributes;
mod section;
#[cfg(test)]
mod tests;

use super::distilled::distilled;
use crate::format::{NONE, clean, count, finite};
use attributes::{ATTRIBUTES, attribute_lines};
use dbtime_model::log_digest::{DigestClass, DigestTimes, LogDigest};
use section::section;
use std::fmt::Write;

/// Microseconds of a second.
const SECOND_US: f64 = 1e6;

/// The report: of so many classes all that is known, of the others one line. Median, 95 % and
/// deviation are those of Percona's tools where the digest has them.
pub fn percona_report(digest: &LogDigest, limit: usize) -> String {
    let mut out = header(digest);
    let shown = digest.classes.len().min(limit);
    out += &profile(digest, shown);
    for (index, class) in digest.classes[..shown].iter().enumerate() {
        out += &section(digest, index + 1, class);
    }
    out
}

/// What was read, and all classes together.
fn header(digest: &LogDigest) -> String {
    let files: Vec<String> = digest.inputs.iter().map(|input| clean(&input.path)).collect();
    let classes = digest.classes.len() as u64 + digest.other_classes;
    let total = &digest.total;
    let mut out = format!(
        "# Files: {}\n# Overall: {} total, {} unique, {}\n",
        files.join(", "),
        count(total.count),
        count(classes),
        load(total)
    );
    out += &time_range(total);
    out += &warnings(digest);
    if total.times.is_none() {
        out += "# The log has no durations: classes are in the order of their counts.\n";
    }
    if digest.assumed_weight != 1.0 {
        let weight = finite(digest.assumed_weight);
        let _ = writeln!(out, "# Counts and totals: a record stands for {weight}, as was given.");
    } else if total.logged != total.count {
        let logged = count(total.logged);
        let _ = writeln!(out, "# Counts and totals are estimated from {logged} that were logged.");
    }
    let _ = writeln!(out, "# Attribute        {}", ATTRIBUTES.map(right).join(" "));
    let _ = writeln!(out, "# ============     {}", ["======="; 7].join(" "));
    for line in attribute_lines(total) {
        let _ = writeln!(out, "# {:<12}     {}", line.name, line.cells());
    }
    out
}

/// What makes the figures of a file doubtful, and what is to be known of all files.
fn warnings(digest: &LogDigest) -> String {
    let mut out = String::new();
    for input in &digest.inputs {
        for doubt in &input.doubts {
            let _ = writeln!(out, "# Warning: {}: {}", clean(&input.path), clean(doubt));
        }
    }
    for note in &digest.notes {
        let _ = writeln!(out, "# Note: {}", clean(note));
    }
    out
}

/// A cell of seven columns.
fn right(text: &str) -> String {
    format!("{text:>7}")
}

/// How many a second, and how many at once.
fn load(class: &DigestClass) -> String {
    let span_us = match (class.first_us, class.last_us) {
        (Some(first), Some(last)) if last > first => last.abs_diff(first) as f64,
        _ => return format!("{NONE} QPS, {NONE} concurrency"),
    };
    let rate = class.count as f64 / span_us * SECOND_US;
    let at_once = class
        .times
        .as_ref()
        .map_or(NONE.to_owned(), |times| format!("{:.2}x", finite(times.total_us / span_us)));
    format!("{rate:.2} QPS, {at_once} concurrency")
}

/// From when to when, as a line; empty where that is not known.
fn time_range(class: &DigestClass) -> String {
    let instant = |us: Option<i64>| {
        let at = jiff::Timestamp::from_microsecond(us?).ok()?;
        Some(at.strftime("%Y-%m-%dT%H:%M:%S").to_string())
    };
    match (instant(class.first_us), instant(class.last_us)) {
        (Some(first), Some(last)) => format!("# Time range: {first} to {last}\n"),
        _ => String::new(),
    }
}

/// The ID, as Percona's tools make it where they have one.
fn id_of(class: &DigestClass) -> String {
    clean(class.percona_id.as_deref().unwrap_or(&class.id))
}

/// The variance of the durations, divided by their mean. Unit: seconds.
fn variance_to_mean(times: &DigestTimes) -> f64 {
    let deviation_us = attributes::deviation_us(times);
    match times.mean_us > 0.0 {
        true => finite(deviation_us * deviation_us / times.mean_us / SECOND_US),
        false => 0.0,
    }
}

/// A line for each class that is shown, and one for all others.
fn profile(digest: &LogDigest, shown: usize) -> String {
    let mut out = format!(
        "\n# Profile\n# Rank {:<34} {:>19} {:>7} {:>9} {:>5} Item\n# {:=<4} {:=<34} {:=<19} {:=<7} \
         {:=<9} {:=<5} {:=<4}\n",
        "Query ID", "Response time", "Calls", "R/Call", "V/M", "", "", "", "", "", "", ""
    );
    let all_us = digest.total.times.as_ref().map_or(0.0, |times| times.total_us);
    for (index, class) in digest.classes[..shown].iter().enumerate() {
        let times = class.times.as_ref();
        let vm = times.map_or(NONE.to_owned(), |times| format!("{:.2}", variance_to_mean(times)));
        let row = ProfileRow {
            rank: (index + 1).to_string(),
            id: format!("0x{}", id_of(class)),
            total_us: times.map(|times| times.total_us),
            count: class.count,
            vm,
            item: clean(&distilled(class)),
        };
        out += &row.line(all_us);
    }
    out + &rest_line(digest, shown, all_us)
}

/// The classes that have no section, in one line; empty: there is none.
fn rest_line(digest: &LogDigest, shown: usize, all_us: f64) -> String {
    let hidden = &digest.classes[shown..];
    let classes = hidden.len() as u64 + digest.other_classes;
    if classes == 0 {
        return String::new();
    }
    let all = || hidden.iter().chain(&digest.others);
    let totals = all().filter_map(|class| Some(class.times.as_ref()?.total_us));
    let row = ProfileRow {
        rank: "MISC".to_owned(),
        id: "0xMISC".to_owned(),
        total_us: digest.total.times.as_ref().map(|_| totals.sum()),
        count: all().fold(0, |sum: u64, class| sum.saturating_add(class.count)),
        vm: NONE.to_owned(),
        item: format!("<{} ITEMS>", count(classes)),
    };
    row.line(all_us)
}

/// A line of the profile.
struct ProfileRow {
    rank: String,
    id: String,
    total_us: Option<f64>,
    count: u64,
    vm: String,
    item: String,
}

impl ProfileRow {
    fn line(&self, all_us: f64) -> String {
        let response = self.total_us.map_or(NONE.to_owned(), |total_us| {
            let share = if all_us > 0.0 { finite(100.0 * total_us / all_us) } else { 0.0 };
            format!("{:.4} {share:>5.1}%", finite(total_us) / SECOND_US)
        });
        let each = self.total_us.filter(|_| self.count > 0).map_or(NONE.to_owned(), |total_us| {
            format!("{:.4}", finite(total_us) / SECOND_US / self.count as f64)
        });
        let Self { rank, id, count, vm, item, .. } = self;
        format!("# {rank:>4} {id:<34} {response:>19} {count:>7} {each:>9} {vm:>5} {item}\n")
    }
}
