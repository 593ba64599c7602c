//! `dbtime workloads`: list the shipped workloads, or show one.

use crate::cli::WorkloadsArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::screen;
use dbtime_load::workload::{SHIPPED, Workload};
use dbtime_model::plain_text::plain_lines;
use dbtime_model::units::count;
use std::fmt::Write;

pub(crate) fn run(args: &WorkloadsArgs) -> Result<ProcessExit, CommandFailure> {
    let text = match &args.workload {
        Some(name) => one(&Workload::find(name).map_err(CommandFailure::usage)?, args.scale),
        None => all().map_err(CommandFailure::usage)?,
    };
    screen::result(&plain_lines(&text));
    Ok(ProcessExit::Fine)
}

fn all() -> Result<String, dbtime_load::workload::WorkloadError> {
    let mut text = String::new();
    for (name, _) in SHIPPED {
        let workload = Workload::find(name)?;
        let _ = writeln!(text, "{name:16} {}", workload.description);
    }
    text += "\n`dbtime workloads NAME` shows one: its file, its tables and its size at a scale.\n";
    Ok(text)
}

fn one(workload: &Workload, scale: u64) -> String {
    let mut text = workload.source.trim_end().to_owned() + "\n";
    if workload.tables.is_empty() {
        return text + "\nNo tables: it runs on any target as it is.\n";
    }
    let _ = writeln!(text, "\nSize at scale {scale} (bytes estimated from column types):");
    let _ = writeln!(text, "  {:24} {:>14} {:>14}", "Table", "Rows", "Bytes");
    let sizes = workload.size(scale);
    for table in &sizes {
        let _ = writeln!(
            text,
            "  {:24} {:>14} {:>14}",
            table.name,
            count(table.rows),
            count(table.bytes)
        );
    }
    let (rows, bytes) = sizes.iter().fold((0u64, 0u64), |(rows, bytes), t| {
        (rows.saturating_add(t.rows), bytes.saturating_add(t.bytes))
    });
    let _ = writeln!(text, "  {:24} {:>14} {:>14}", "total", count(rows), count(bytes));
    text
}
