//! All that is known of one class.

use super::attributes::{ATTRIBUTES, attribute_lines, flag_shares};
use super::{id_of, load, right, time_range, variance_to_mean};
use crate::format::{clean, finite};
use dbtime_model::log_digest::{ClassSample, DigestClass, DigestTimes, LogDigest, NamedCount};
use dbtime_model::plain_text::plain_lines;
use std::fmt::Write;

/// Steps of the distribution: each ten times the one before, from the first on what is shorter too.
const DECADES: [&str; 8] = ["1us", "10us", "100us", "1ms", "10ms", "100ms", "1s", "10s+"];

/// Where the second step begins. Unit: nanoseconds.
const SECOND_DECADE_NS: u64 = 10_000;

/// Signs of the longest bar.
const BAR_SIGNS: f64 = 64.0;

/// The section of the class of this rank.
pub(super) fn section(digest: &LogDigest, rank: usize, class: &DigestClass) -> String {
    let place = class.worst.as_ref().map_or(String::new(), |worst| place(digest, worst));
    let mut out = format!("\n# Query {rank}: {}, ID 0x{}{place}\n", load(class), id_of(class));
    if let Some(times) = &class.times {
        let _ = writeln!(out, "# Scores: V/M = {:.2}", variance_to_mean(times));
    }
    out += &time_range(class);
    out += &attributes(digest, class);
    for (name, share) in flag_shares(class) {
        let (yes, no) = (100.0 * share, 100.0 * (1.0 - share));
        let _ = writeln!(out, "# {name:<12} {yes:>3.0}% yes, {no:>3.0}% no");
    }
    for (name, counts) in [
        ("Databases", &class.databases),
        ("Hosts", &class.hosts),
        ("Users", &class.users),
        ("Errors", &class.error_codes),
    ] {
        out += &names_line(name, counts, class.count);
    }
    out += &class.times.as_ref().map_or(String::new(), distribution);
    let sample = class.worst.as_ref().map(|worst| worst.text.as_str());
    let text = sample.filter(|text| !text.is_empty()).unwrap_or(&class.text);
    let _ = writeln!(out, "{}", plain_lines(text));
    out
}

/// Where the longest one stands.
fn place(digest: &LogDigest, worst: &ClassSample) -> String {
    let input = digest.inputs.get(worst.input as usize).filter(|_| digest.inputs.len() > 1);
    let file = input.map_or(String::new(), |input| format!(" of {}", clean(&input.path)));
    format!(" at byte {}{file}", worst.offset)
}

/// The figures, with the share that they have of all classes'.
fn attributes(digest: &LogDigest, class: &DigestClass) -> String {
    let mut out = format!(
        "# Attribute    pct {}\n# ============ === {}\n",
        ATTRIBUTES.map(right).join(" "),
        ["======="; 7].join(" ")
    );
    let pct = |part: f64, whole: f64| if whole > 0.0 { finite(100.0 * part / whole) } else { 0.0 };
    let share = pct(class.count as f64, digest.total.count as f64);
    let _ = writeln!(out, "# Count        {share:>3.0} {:>7}", class.count);
    let all = attribute_lines(&digest.total);
    for line in attribute_lines(class) {
        let whole = all.iter().find(|other| other.name == line.name);
        let share = pct(line.total, whole.map_or(0.0, |whole| whole.total));
        let _ = writeln!(out, "# {:<12} {share:>3.0} {}", line.name, line.cells());
    }
    out
}

/// Names with their counts and shares; empty: there is none.
fn names_line(title: &str, counts: &[NamedCount], all: u64) -> String {
    let shown = |named: &NamedCount| match (named.count == all, clean(&named.name)) {
        (true, name) => name,
        (false, name) => {
            let share = 100.0 * named.count as f64 / all.max(1) as f64;
            format!("{name} ({}/{share:.0}%)", named.count)
        }
    };
    match counts {
        [] => String::new(),
        counts => {
            let names: Vec<String> = counts.iter().map(shown).collect();
            format!("# {title:<12} {}\n", names.join(", "))
        }
    }
}

/// How many durations there are of each power of ten, as bars.
fn distribution(times: &DigestTimes) -> String {
    let mut counts = [0u64; DECADES.len()];
    for (ns, count) in times.histogram.iter() {
        let steps = (0..7).take_while(|step| ns >= SECOND_DECADE_NS * 10u64.pow(*step)).count();
        counts[steps] = counts[steps].saturating_add(count);
    }
    let most = counts.into_iter().max().unwrap_or(0).max(1) as f64;
    let mut out = "# Query_time distribution\n".to_owned();
    for (decade, count) in DECADES.iter().zip(counts) {
        let signs = (count as f64 / most * BAR_SIGNS).ceil() as usize;
        let line = format!("# {decade:>5}  {}", "#".repeat(signs));
        out += line.trim_end();
        out.push('\n');
    }
    out
}
