//! The answer in a sentence or two: whether the rows are the same and B is faster, or what a single
//! statement takes and where that time goes.

use super::ratio_text::{interval_text, ratio, times};
use super::rows::{rows_phrase, unlike_rows};
use crate::format::{count, counted, fit, one_line, percent, us};
use crate::means::PartMeans;
use dbtime_model::query::{FormComparison, FormVerdict, QueryForm, QueryRecord};

/// How many parts of the time the answer names.
const NAMED_PARTS: usize = 2;

/// Columns of what a server says of a failure.
const FAILURE_COLUMNS: usize = 160;

/// The first sentences of a report.
pub(super) fn answer(record: &QueryRecord) -> String {
    match (&record.forms[..], &record.comparison) {
        ([], _) => "No statement was executed".to_owned(),
        ([form], _) => of_one(form),
        (_, Some(compared)) => with_rows(record, &of_two(record, compared)),
        (forms, None) => with_rows(record, &uncompared(forms)),
    }
}

/// What an execution takes, and the parts that most of it goes to.
fn of_one(form: &QueryForm) -> String {
    let Some(taken) = &form.times else { return failure(form) };
    let means = PartMeans::from(form);
    let most = if means.are_split() { NAMED_PARTS } else { 0 };
    let named = means.largest().into_iter().take(most).filter_map(|(part, _)| {
        let share = means.share(part)?;
        Some(format!("{} {}", percent(share), part.name()))
    });
    let parts: Vec<String> = named.collect();
    let parts = match parts.is_empty() {
        true => String::new(),
        false => format!(": {}", parts.join(", ")),
    };
    let failed = match form.failed {
        0 => String::new(),
        failed => format!("; {} failed", count(failed)),
    };
    format!(
        "An execution takes {}{parts} (p50 {}, p99 {}, {}{failed})",
        us(taken.mean_us),
        us(taken.p50_us),
        us(taken.p99_us),
        counted(taken.count, "execution")
    )
}

/// Why there are no figures of a form, or not of all of its executions.
pub(super) fn failure(form: &QueryForm) -> String {
    let name = one_line(&form.name);
    match (&form.failure, form.failed) {
        (Some(why), failed) => {
            let why = fit(&one_line(why), FAILURE_COLUMNS);
            match form.times {
                Some(_) => format!("{name} failed in {}: {why}", counted(failed, "execution")),
                None => format!("{name} failed: {why}"),
            }
        }
        (None, 0) => format!("{name} was not executed"),
        (None, failed) => format!("{name} failed in {}", counted(failed, "execution")),
    }
}

/// What is said of rows stands first where they are not the same.
fn with_rows(record: &QueryRecord, compared: &str) -> String {
    let Some(check) = &record.rows else { return compared.to_owned() };
    match unlike_rows(check) {
        Some(unlike) => match compared.strip_prefix('U') {
            Some(undecided) => format!("{unlike}; u{undecided}"),
            None => format!("{unlike}; {compared}"),
        },
        None => format!("{compared}; {}", rows_phrase(check)),
    }
}

fn of_two(record: &QueryRecord, compared: &FormComparison) -> String {
    let interval = interval_text(compared.ratio);
    let value = compared.ratio.ratio;
    let (pairs, life) = (pairs(record, compared.pairs), life(record, compared.lives));
    let share = |of: f64| percent(of * 100.0);
    match compared.verdict {
        FormVerdict::Faster => format!(
            "B takes {} of A's time ({interval}): {} times faster, faster for {} of {pairs}{life}",
            ratio(value),
            times(value),
            share(compared.faster_share)
        ),
        FormVerdict::Slower => format!(
            "B takes {} times A's time ({interval}): slower for {} of {pairs}{life}",
            ratio(value),
            share(1.0 - compared.faster_share)
        ),
        FormVerdict::Same => format!(
            "B takes as long as A, within {}: {} of A's time ({interval}) for {pairs}{life}",
            share(compared.margin),
            ratio(value)
        ),
        FormVerdict::Undecided => format!(
            "Undecided whether B is faster: it takes {} of A's time ({interval}) for \
             {pairs}{life}",
            ratio(value)
        ),
    }
}

/// A statement without parameters has one key.
fn pairs(record: &QueryRecord, pairs: u64) -> String {
    let noun = if record.keys.sources.is_empty() { "pair" } else { "key" };
    counted(pairs, noun)
}

/// What the verdict holds in: a file has no life of a server.
fn life(record: &QueryRecord, lives: u64) -> String {
    match lives {
        0 | 1 if record.target.version.starts_with("SQLite") => String::new(),
        0 | 1 => ", in this server life".to_owned(),
        several => format!(", over {} server lives", count(several)),
    }
}

/// Why two forms have no comparison.
fn uncompared(forms: &[QueryForm]) -> String {
    let failed: Vec<String> =
        forms.iter().filter(|form| form.failed > 0 || form.times.is_none()).map(failure).collect();
    match failed.is_empty() {
        true => "A and B are not compared: there are too few pairs".to_owned(),
        false => format!("A and B are not compared: {}", failed.join("; ")),
    }
}
