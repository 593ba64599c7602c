//! The end of the page: what a transaction costs, the machine, and how to repeat the run.

use crate::charts::escape;
use crate::facts;
use crate::repeat;
use dbtime_model::record::Run;
use std::fmt::Write;

/// Columns of a command in the page.
const PAGE_COLUMNS: usize = 100;

pub(super) fn section(run: &Run, out: &mut String) {
    let record = &run.record;
    out.push_str("<section><h2>Cost and machine</h2>\n<dl class=\"facts\">");
    let groups = [facts::per_transaction(record), facts::environment(record), facts::setup(record)];
    for (name, text) in groups.into_iter().flatten() {
        let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&text));
    }
    out.push_str("</dl></section>\n");
    repeat_section(&record.command, &record.directory, &record.target.url, out);
}

/// How to repeat a run or a sweep by its command, given in a folder, against a target; nothing
/// where there is no command.
pub(super) fn repeat_section(command: &str, folder: &str, target: &str, out: &mut String) {
    if command.is_empty() {
        return;
    }
    let lines = repeat::command(command, folder, PAGE_COLUMNS);
    let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
    let _ = writeln!(out, "<section><h2>Repeat it</h2><pre>{}</pre>", lines.join("\n"));
    if let Some(note) = repeat::secrets(command, target) {
        let _ = writeln!(out, "<p class=\"dim note\">{}</p>", escape(&note));
    }
    out.push_str("</section>\n");
}
