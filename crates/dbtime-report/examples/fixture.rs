//! Writes the reports of the hand-made runs into a folder, to be looked at.
//!
//! `cargo run -p dbtime-report --example fixture -- FOLDER`
#![allow(clippy::print_stdout, reason = "a developer's tool that prints what it did")]

#[path = "../tests/it/fixtures/mod.rs"]
mod fixtures;

use dbtime_report::compare::{RunComparison, runs_document};
use dbtime_report::terminal::PageStyle;
use dbtime_report::{SweepRow, TerminalOptions, html, terminal};
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "reports".to_owned()));
    std::fs::create_dir_all(&folder)?;
    let options = TerminalOptions {
        style: PageStyle { color: true, ..PageStyle::default() },
        histogram: true,
        threads: true,
        ..TerminalOptions::default()
    };
    for (name, run) in fixtures::all() {
        std::fs::write(folder.join(format!("{name}.html")), html::report(&run))?;
        std::fs::write(folder.join(format!("{name}.txt")), terminal::run_report(&run, &options))?;
        let short = TerminalOptions { short: true, ..options };
        let text = terminal::run_report(&run, &short);
        std::fs::write(folder.join(format!("{name}-short.txt")), text)?;
    }
    let (a, b) = (fixtures::open(), fixtures::closed());
    let compared = RunComparison::of([("open", &a.record), ("closed", &b.record)]);
    let compared = runs_document(&compared);
    std::fs::write(folder.join("compare.txt"), compared.text(PageStyle::default()))?;
    std::fs::write(folder.join("compare.html"), compared.html())?;
    let rows: Vec<_> =
        fixtures::all().iter().map(|(_, run)| SweepRow::from_record(&run.record)).collect();
    std::fs::write(folder.join("sweep.txt"), terminal::sweep_table(&rows, PageStyle::default()))?;
    println!("written to {}", folder.display());
    Ok(())
}
