//! Progress on a terminal: one line that is written over.

use crate::screen;
use dbtime_lab::Progress;
use dbtime_model::Nanos;
use dbtime_model::units::{human_ns, three_digits};
use std::sync::Mutex;

/// Shows a run's progress on stderr, and only to a terminal.
pub(crate) struct Live {
    shown: bool,
    /// Warm-up and whole length of the load, in seconds; `None` while unknown.
    plan: Mutex<(f64, Option<f64>)>,
}

impl Live {
    /// Quiet when nobody would see it.
    pub(crate) fn new() -> Self {
        Self { shown: screen::has_audience(), plan: Mutex::new((0.0, None)) }
    }

    /// Shows one thing.
    pub(crate) fn show(&self, progress: &Progress) {
        if let Progress::Stuck { client, length } = progress {
            screen::note(&stuck(*client, *length));
        } else if self.shown {
            screen::status(&self.line(progress));
        }
    }

    /// Leaves the line empty for what follows.
    pub(crate) fn finish(&self) {
        if self.shown {
            screen::status("");
        }
    }

    fn line(&self, progress: &Progress) -> String {
        match progress {
            Progress::Server(what) => format!("{what} ..."),
            Progress::Loading { table, done, total } => {
                format!(
                    "loading {table} {} {done} of {total} rows",
                    bar(*done as f64, *total as f64)
                )
            }
            Progress::FlatOut { length } => format!("finding the flat-out rate ({length}) ..."),
            Progress::Rate { flat_out_tps, offered_tps } => format!(
                "flat out {}/s, offering {}/s",
                three_digits(*flat_out_tps),
                three_digits(*offered_tps)
            ),
            Progress::Stuck { client, length } => stuck(*client, *length),
            Progress::Started { warmup, measure, transactions, .. } => {
                let length = measure.map(|measure| (*warmup + measure).as_secs());
                *self.plan.lock().expect("held for an assignment") = (warmup.as_secs(), length);
                match transactions {
                    Some(n) => format!("driving {n} transactions ..."),
                    None => "driving ...".to_owned(),
                }
            }
            Progress::Second(seen) => {
                let (warmup, length) = *self.plan.lock().expect("held for a copy");
                let second = f64::from(seen.second) + 1.0;
                let phase = match length {
                    _ if second <= warmup => "warm-up",
                    Some(length) if second > length => "rundown",
                    _ => "measuring",
                };
                let progress = length.map_or(String::new(), |length| bar(second, length) + " ");
                let failed = if seen.failed > 0 {
                    format!("  {} failed", seen.failed)
                } else {
                    String::new()
                };
                format!(
                    "{phase:9} {progress}{second:>4.0} s  {}/s  p50 {}  p99 {}{failed}",
                    seen.completed,
                    human_ns(seen.p50.0 as f64),
                    human_ns(seen.p99.0 as f64),
                )
            }
        }
    }
}

/// Said of a script that does not come back, to everybody: a terminal or not.
pub(crate) fn stuck(client: u32, length: Nanos) -> String {
    format!(
        "dbtime: no progress: the script of client {client} has not come back for {}; it computes, \
         loops for ever or blocks, and holds up all clients of its thread (Ctrl-C twice ends dbtime)",
        human_ns(length.0 as f64)
    )
}

fn bar(done: f64, total: f64) -> String {
    const WIDTH: usize = 20;
    let share = if total > 0.0 { (done / total).clamp(0.0, 1.0) } else { 0.0 };
    let full = (share * WIDTH as f64).round() as usize;
    format!("[{}{}]", "#".repeat(full), ".".repeat(WIDTH - full))
}
