//! One transaction from the instant it was due until it was done: the client, the way, the server,
//! and who was waited for, each on a line of its own.
//!
//! Everything is placed in percent of the response, so that a page can widen the drawing without
//! knowing what is in it.

use super::svg::escape;
use crate::format::{finite, percent, us};
use crate::means::PartMeans;
use dbtime_model::Part;
use dbtime_model::record::{TransactionRow, TransactionStatement};
use std::fmt::Write;

/// The height of a line, and from one to the next. Unit: pixels.
const LANE: u32 = 22;
const LANE_STEP: u32 = 26;

/// The room of the axis under the lines.
const AXIS: u32 = 20;

/// What the drawing has in words: a page has dozens of these, and the parts of each below it.
const DESCRIPTION: &str = "The text below names its parts";

/// The parts that lie before the first byte is sent.
const BEFORE: [Part; 2] = [Part::Queue, Part::Lag];

/// The parts of a statement that are not the server's.
const OUTSIDE: [Part; 3] = [Part::Client, Part::Wire, Part::ServerQueue];

/// A drawing in the making.
struct TransactionTimeline<'a> {
    row: &'a TransactionRow,
    lanes: Vec<TimelineLane>,
}

/// A line with its name.
struct TimelineLane {
    name: &'static str,
    html: String,
}

/// The timeline of a transaction as markup.
///
/// Shape: an SVG with the class `timeline`, in which all that has an instant stands in an SVG of
/// the class `moment`; `data-us` is what its width stands for.
pub(crate) fn timeline(row: &TransactionRow) -> String {
    let mut timeline = TransactionTimeline { row, lanes: Vec::new() };
    match row.statements.is_empty() {
        true => timeline.whole(),
        false => timeline.statements(),
    }
    timeline.finish()
}

impl TransactionTimeline<'_> {
    /// Without statements: what came before, and the sums of what came after.
    fn whole(&mut self) {
        let mut lane = String::new();
        let (means, end) = (PartMeans::from(&self.row.budget), self.row.budget.total);
        match (self.row.ready_us, self.row.sent_us) {
            (Some(ready), Some(sent)) => {
                let (ready, sent) = (self.since_due(ready), self.since_due(sent));
                self.part(&mut lane, Part::Queue, 0.0, ready, "");
                self.part(&mut lane, Part::Lag, ready, sent, "");
                self.stack(&mut lane, &means, &BEFORE, sent, end);
            }
            // An earlier record does not have them: their sums come first all the same.
            _ => self.stack(&mut lane, &means, &[], 0.0, end),
        }
        self.lanes.push(TimelineLane { name: "all", html: lane });
    }

    fn statements(&mut self) {
        let (mut client, mut wire) = (String::new(), String::new());
        let (mut server, mut waited) = (String::new(), String::new());
        let ready = self.row.ready_us.map_or(0.0, |at| self.since_due(at));
        let sent = self.row.sent_us.map_or(ready, |at| self.since_due(at));
        self.part(&mut client, Part::Queue, 0.0, ready, "");
        self.part(&mut client, Part::Lag, ready, sent, "");
        let mut free = sent;
        for (index, statement) in self.row.statements.iter().enumerate() {
            let from = self.since_due(statement.sent_us);
            let to = self.since_due(statement.read_us);
            self.between(&mut client, free, from);
            self.awaited(&mut client, statement, index, from, to);
            self.served(&mut wire, &mut server, statement, from, to);
            self.blocked(&mut waited, statement, from, to);
            free = free.max(to);
        }
        self.between(&mut client, free, self.row.budget.total);
        let lanes =
            [("client", client), ("wire", wire), ("server", server), ("waited for", waited)];
        let lanes = lanes.into_iter().filter(|(_, html)| !html.is_empty());
        self.lanes.extend(lanes.map(|(name, html)| TimelineLane { name, html }));
    }

    /// The driver between two statements.
    fn between(&self, out: &mut String, from: f64, to: f64) {
        let budget = &self.row.budget;
        let pauses = Part::PAUSES.map(|part| budget.get(part).unwrap_or(0.0));
        let (part, note) = match pauses.iter().sum::<f64>() > 0.0 {
            true => (Part::Think, "client, or a pause"),
            false => (Part::Client, ""),
        };
        self.part(out, part, from, to, note);
    }

    /// A statement as the client sees it, with its name.
    fn awaited(
        &self,
        out: &mut String,
        of: &TransactionStatement,
        index: usize,
        from: f64,
        to: f64,
    ) {
        let name = match of.name.as_str() {
            "" => format!("statement {}", index + 1),
            name => name.to_owned(),
        };
        let tip = format!("{name}: {} from sent to read", us(to - from));
        self.block(out, "await", (from, to), [&tip, &name]);
        let taken = to - of.late_us;
        self.part(out, Part::Client, taken - taking(of), taken, "the answer was in its socket");
        self.part(out, Part::Lag, taken, to, "the answer waited for the driver");
    }

    /// The ways of a statement and what the server did.
    fn served(
        &self,
        wire: &mut String,
        server: &mut String,
        of: &TransactionStatement,
        from: f64,
        to: f64,
    ) {
        let means = PartMeans::from(&of.budget);
        let (Some(began), Some(ended)) = (of.began_us, of.ended_us) else {
            return self.stack(server, &means, &[], from, to);
        };
        let (began, ended) = (self.since_due(began), self.since_due(ended));
        let arrived = of.arrived_us.map(|at| self.since_due(at));
        let note = if arrived.is_none() { "and the server’s queue" } else { "there" };
        self.part(wire, Part::Wire, from, arrived.unwrap_or(began), note);
        self.part(wire, Part::Wire, ended, to - of.late_us - taking(of), "back");
        // What its thread waited for before it read is among the parts.
        let queued = of.budget.get(Part::ServerQueue).unwrap_or(0.0);
        let parts_from = arrived.map_or(began, |arrived| (arrived + queued).min(began));
        if let Some(arrived) = arrived {
            self.part(server, Part::ServerQueue, arrived, parts_from, "");
        }
        let by = match (of.connection, of.thread) {
            (Some(connection), Some(thread)) => {
                format!("connection #{connection}, thread {thread}")
            }
            _ => String::new(),
        };
        self.block(server, "served", (began, ended), [&by, ""]);
        self.stack(server, &means, &OUTSIDE, parts_from, ended);
    }

    /// Who let go the lock that a statement waited for. When that was within it is not known.
    fn blocked(&self, out: &mut String, of: &TransactionStatement, from: f64, to: f64) {
        let Some(text) = wait(of) else { return };
        let (from, to) = match (of.began_us, of.ended_us) {
            (Some(began), Some(ended)) => (self.since_due(began), self.since_due(ended)),
            _ => (from, to),
        };
        let tip = format!("waited {text}");
        self.block(out, "waited", (from, to), [&tip, &text]);
    }

    /// Sums of parts side by side, in the order of a transaction's life, as far as they go.
    fn stack(&self, out: &mut String, means: &PartMeans, but: &[Part], from: f64, to: f64) {
        let mut at = from;
        for (part, amount) in means.present() {
            if amount > 0.0 && !but.contains(&part) {
                self.part(out, part, at, (at + amount).min(to), "in all");
                at = (at + amount).min(to);
            }
        }
    }

    fn since_due(&self, at_us: f64) -> f64 {
        finite(at_us - self.row.due_us)
    }

    /// Where an instant lies. Unit: percent of the response.
    fn percent(&self, at_us: f64) -> f64 {
        let total = self.row.budget.total;
        if total > 0.0 { (finite(at_us / total) * 100.0).clamp(0.0, 100.0) } else { 0.0 }
    }

    fn part(&self, out: &mut String, part: Part, from: f64, to: f64, note: &str) {
        let (x, end) = (self.percent(from), self.percent(to));
        if end - x < 1e-4 {
            return;
        }
        let name = part.name();
        let note = if note.is_empty() { String::new() } else { format!(", {note}") };
        let _ = write!(
            out,
            "<rect class=\"p-{name}\" x=\"{x:.4}%\" width=\"{:.4}%\" height=\"{LANE}\">\
             <title>{name} {}{}</title></rect>",
            end - x,
            us(to - from),
            escape(&note)
        );
    }

    /// A stretch with a frame, a tip and a text that never leaves it.
    fn block(&self, out: &mut String, class: &str, (from, to): (f64, f64), [tip, text]: [&str; 2]) {
        let (x, end) = (self.percent(from), self.percent(to));
        if end - x < 1e-4 {
            return;
        }
        let _ = write!(
            out,
            "<svg x=\"{x:.4}%\" width=\"{:.4}%\" height=\"{LANE}\"><title>{}</title>\
             <rect class=\"{class}\" width=\"100%\" height=\"100%\"/>",
            end - x,
            escape(tip)
        );
        if !text.is_empty() {
            let _ = write!(out, "<text x=\"4\" y=\"15\">{}</text>", escape(text));
        }
        out.push_str("</svg>");
    }

    fn finish(self) -> String {
        let total = finite(self.row.budget.total).max(0.0);
        let height = LANE_STEP * self.lanes.len() as u32 + AXIS;
        let mut out = String::from("<div class=\"lanes\"><div class=\"lane-names\">");
        for lane in &self.lanes {
            let _ = write!(out, "<span>{}</span>", lane.name);
        }
        let _ = write!(
            out,
            "</div><svg class=\"timeline\" data-us=\"{total:.3}\" width=\"100%\" \
             height=\"{height}\" role=\"img\"><title>{}</title><desc>{DESCRIPTION}</desc>\
             <svg class=\"moment\" x=\"0%\" width=\"100%\" overflow=\"visible\">",
            escape(&format!("{} of {}", us(total), self.row.operation))
        );
        for (index, lane) in self.lanes.iter().enumerate() {
            let y = LANE_STEP * index as u32;
            let _ = write!(out, "<svg y=\"{y}\" height=\"{LANE}\">{}</svg>", lane.html);
        }
        let _ = write!(out, "</svg><g class=\"instants\">{}</g></svg></div>", axis(total, height));
        out
    }
}

/// Instants under the lines, as far as the whole response is shown.
fn axis(total_us: f64, height: u32) -> String {
    let scale = super::axis::AxisScale::linear(total_us, (0.0, 100.0)).ending_at(total_us);
    let mut out = String::new();
    for tick in scale.ticks() {
        let at = scale.at(tick);
        let anchor = match at {
            at if at < 3.0 => "start",
            at if at > 95.0 => "end",
            _ => "middle",
        };
        let _ = write!(
            out,
            "<text x=\"{at:.3}%\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            height - 5,
            super::axis::time_tick(tick)
        );
    }
    out
}

/// How long an answer was in the driver's socket before it was read; 0 where that is not known.
/// Unit: microseconds.
fn taking(of: &TransactionStatement) -> f64 {
    of.budget.client.unwrap_or(0.0)
}

/// How long a statement waited for a lock, and for whose.
fn wait(of: &TransactionStatement) -> Option<String> {
    let lock = if of.lock.is_empty() { "a lock" } else { &of.lock };
    let thread = of.holder_thread.map_or(String::new(), |id| format!(", thread {id}"));
    Some(format!("{} for {lock} released by {}{thread}", us(of.lock_wait_us?), of.holder))
}

/// The waits of its statements for locks, in words, and who had the CPU instead of them.
pub(crate) fn waits(row: &TransactionRow) -> Vec<String> {
    let of = |s: &TransactionStatement| {
        let lock = wait(s).map(|text| format!("{} waited {text}", s.name));
        let held = (!s.cpu_holder.is_empty()).then(|| {
            format!("{} could have run, and {} had the CPU for longest", s.name, s.cpu_holder)
        });
        [lock, held].into_iter().flatten()
    };
    row.statements.iter().flat_map(of).collect()
}

/// All its parts in words.
pub(crate) fn described(row: &TransactionRow) -> String {
    let means = PartMeans::from(&row.budget);
    let part = |(part, amount): &(Part, f64)| {
        let share = means.share(*part).map_or(String::new(), percent);
        format!("{} {} ({share})", part.name(), us(*amount))
    };
    means.largest().iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::BudgetUs;

    fn traced() -> TransactionRow {
        let statement = TransactionStatement {
            name: "update <b>".to_owned(),
            sent_us: 1_100.0,
            read_us: 1_900.0,
            late_us: 50.0,
            arrived_us: Some(1_150.0),
            began_us: Some(1_200.0),
            ended_us: Some(1_800.0),
            connection: Some(3),
            thread: Some(77),
            lock_wait_us: Some(400.0),
            lock: "row lock".to_owned(),
            holder: "COMMIT (connection #4)".to_owned(),
            holder_thread: Some(78),
            cpu_holder: "purge".to_owned(),
            budget: BudgetUs {
                wire: Some(100.0),
                server_queue: Some(50.0),
                cpu: Some(200.0),
                lock: Some(400.0),
                total: 750.0,
                ..BudgetUs::default()
            },
        };
        TransactionRow {
            operation: "pay".to_owned(),
            due_us: 1_000.0,
            ready_us: Some(1_040.0),
            sent_us: Some(1_100.0),
            budget: BudgetUs { lock: Some(400.0), total: 1_000.0, ..BudgetUs::default() },
            statements: vec![statement],
            ..TransactionRow::default()
        }
    }

    #[test]
    fn instants_stand_where_they_were_and_names_stay_text() {
        let drawn = timeline(&traced());
        for expected in [
            "<rect class=\"p-queue\" x=\"0.0000%\" width=\"4.0000%\"",
            "<rect class=\"p-wire\" x=\"10.0000%\" width=\"5.0000%\"",
            "<rect class=\"p-wire\" x=\"80.0000%\" width=\"5.0000%\"",
            "<rect class=\"p-server_queue\" x=\"15.0000%\" width=\"5.0000%\"",
            "<rect class=\"p-cpu\" x=\"20.0000%\" width=\"20.0000%\"",
            "<rect class=\"p-lock\" x=\"40.0000%\" width=\"40.0000%\"",
            "<rect class=\"p-client\" x=\"90.0000%\" width=\"10.0000%\"",
            "update &lt;b&gt;: 800 µs from sent to read",
            "waited 400 µs for row lock released by COMMIT (connection #4), thread 78",
            "connection #3, thread 77",
        ] {
            assert!(drawn.contains(expected), "no {expected} in {drawn}");
        }
        assert!(!drawn.contains("<b>"));
        let waits = waits(&traced());
        assert_eq!(waits.len(), 2, "{waits:?}");
        assert!(waits[1].ends_with("could have run, and purge had the CPU for longest"));
    }

    #[test]
    fn without_statements_the_sums_follow_what_came_before() {
        let row = TransactionRow { statements: Vec::new(), ..traced() };
        let drawn = timeline(&row);
        assert!(drawn.contains("<rect class=\"p-lag\" x=\"4.0000%\" width=\"6.0000%\""), "{drawn}");
        assert!(drawn.contains("<rect class=\"p-lock\" x=\"10.0000%\" width=\"40.0000%\""));
        let old = TransactionRow { ready_us: None, sent_us: None, ..row };
        assert!(timeline(&old).contains("<rect class=\"p-lock\" x=\"0.0000%\""));
        assert!(!timeline(&TransactionRow::default()).contains("NaN"));
    }
}
