//! The end of the page: what a transaction costs, the machine, and how to repeat the run.

use crate::charts::escape;
use crate::facts;
use dbtime_model::record::Run;
use std::fmt::Write;

pub(super) fn section(run: &Run, out: &mut String) {
    let record = &run.record;
    out.push_str("<section><h2>Cost and machine</h2>\n<dl class=\"facts\">");
    let groups = [facts::per_transaction(record), facts::environment(record), facts::setup(record)];
    for (name, text) in groups.into_iter().flatten() {
        let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&text));
    }
    out.push_str("</dl></section>\n");
    if !record.command.is_empty() {
        let command = escape(&record.command);
        let _ = writeln!(out, "<section><h2>Repeat it</h2><pre>{command}</pre></section>");
    }
}
