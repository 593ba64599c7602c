//! From what a run has measured to what pgbench's report tells.

use super::preflight::DatabaseFacts;
use dbtime_lab::RunResult;
use dbtime_script::pgbench::report::{CommandOutcome, PgbenchOutcome, ScriptOutcome};
use dbtime_script::pgbench::{PgbenchScript, ScriptCounts};

/// What the report of a run tells.
pub(super) fn outcome(
    script: &PgbenchScript,
    known: &DatabaseFacts,
    finished: &RunResult,
) -> PgbenchOutcome {
    let statistics = script.statistics();
    let settings = script.settings();
    let scripts = settings.scripts.iter().zip(&statistics.scripts);
    let record = &finished.run.record;
    // An embedded database has no connections that anything is known of.
    let connections = record.connections.as_ref();
    let connecting_s = match settings.reconnects {
        true => {
            let mean_us = record.latency_us.connect.as_ref().map_or(0.0, |connect| connect.mean);
            mean_us * connections.map_or(0, |connections| connections.made) as f64 / 1e6
        }
        false => connections.map_or(0.0, |connections| connections.opening_s),
    };
    PgbenchOutcome {
        scale: settings.scale.unsigned_abs(),
        partitions: known.partitions,
        total: statistics.total(),
        duration_s: record.window.measure_s + record.window.rundown_s,
        connecting_s,
        scripts: scripts
            .map(|((script, _), counts)| {
                let texts = script.commands.iter().map(|command| &command.first_line);
                of_script(texts, counts)
            })
            .collect(),
    }
}

fn of_script<'a>(texts: impl Iterator<Item = &'a String>, counts: &ScriptCounts) -> ScriptOutcome {
    let commands = texts.zip(&counts.commands).map(|(text, command)| CommandOutcome {
        text: text.clone(),
        latency: command.time.times(1e6),
        failures: command.failures,
        retries: command.retries,
    });
    ScriptOutcome { tally: counts.transactions, commands: commands.collect() }
}
