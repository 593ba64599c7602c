//! What processes spent over an interval, most CPU time first.

use crate::document::ReportDocument;
use crate::format::{
    NONE, clean, count, counted, four_digits, percent, rate, seconds, short_bytes,
};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::Nanos;
use dbtime_model::process::{
    CpuSplit, ProcessPresence, ProcessRow, ProcessTable, ProcessUse, ResourceUsage, ScheduledTimes,
    ShareOf, ThreadUse, WholeMachine,
};

/// How the table is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessesOptions {
    /// CPU seconds instead of percent.
    pub seconds: bool,
    /// Run-queue delay, switches, faults, reads and writes, and memory too.
    pub all: bool,
    /// A line for every thread.
    pub threads: bool,
}

/// The table of processes, those that came and went, what was waited for, and how to read it.
///
/// Its text is a wide one ([`ReportDocument::wide_text`]).
pub fn process_document(table: &ProcessTable, options: ProcessesOptions) -> ReportDocument {
    let title = format!("Processes over {}", seconds_of(table.wall));
    let mut document = ReportDocument::untitled("dbtime ps", &title);
    let show = ProcessColumns { table, options };
    document.table(&show.there());
    show.changes(&mut document);
    show.waited_for(&mut document);
    show.notes(&mut document);
    document
}

struct ProcessColumns<'a> {
    table: &'a ProcessTable,
    options: ProcessesOptions,
}

impl ProcessColumns<'_> {
    /// Those that were there at both ends.
    fn there(&self) -> ReportTable {
        let mut columns = vec![TextColumn::text("UID"), TextColumn::figure("PID")];
        if self.options.threads {
            columns.push(TextColumn::figure("TID"));
        }
        let (times, waits, runq) = if self.options.seconds {
            (["CPU s", "USR s", "SYS s"], ["WOKEN s", "PREEMPTED s"], "RUNQ s")
        } else {
            (["%CPU", "%USR", "%SYS"], ["%WOKEN", "%PREEMPTED"], "%RUNQ")
        };
        columns.extend(times.map(TextColumn::figure));
        if self.table.whole.is_some() {
            columns.extend(waits.map(TextColumn::figure));
        }
        if self.options.all {
            columns.push(TextColumn::figure(runq));
            columns.extend(ALL.map(TextColumn::figure));
        }
        columns.push(TextColumn::text("COMMAND"));
        let mut lines = ReportTable::new(columns);
        for row in &self.table.processes {
            if row.used.presence == ProcessPresence::Stayed {
                self.process(row, &mut lines);
            }
        }
        lines
    }

    fn process(&self, row: &ProcessRow, lines: &mut ReportTable) {
        let used = &row.used;
        let mut cells = who(used);
        if self.options.threads {
            cells.push(TextCell::new("all", TextRole::Dim));
        }
        let resources = (&used.resources, used.split, used.scheduled);
        cells.extend(self.figures(resources, used.wall));
        if self.options.all {
            cells.push(used.memory.map_or(NONE.into(), |m| short_bytes(m.rss_bytes as f64).into()));
            cells.push(count(u64::from(used.threads)).into());
        }
        cells.push(clean(&used.command).into());
        lines.row(cells);
        if self.options.threads {
            used.each_thread.iter().for_each(|thread| self.thread(used, thread, lines));
        }
    }

    fn thread(&self, used: &ProcessUse, thread: &ThreadUse, lines: &mut ReportTable) {
        let mut cells = who(used);
        cells.push(thread.id.pid.to_string().into());
        let resources = (&thread.resources, thread.split, thread.scheduled);
        cells.extend(self.figures(resources, used.wall));
        if self.options.all {
            cells.extend(["".into(), "".into()]);
        }
        cells.push(format!("  {}", clean(&thread.name)).into());
        lines.row(cells);
    }

    /// CPU time, and on request everything else that is spent.
    fn figures(
        &self,
        (resources, split, scheduled): (&ResourceUsage, CpuSplit, Option<ScheduledTimes>),
        wall: Nanos,
    ) -> Vec<TextCell> {
        let time = |time: Nanos| match self.options.seconds {
            true => four_digits(time.as_secs()),
            false => four_digits(self.table.share(time, wall)),
        };
        let known = |value: Option<Nanos>| value.map_or(NONE.to_owned(), time);
        let cpu = TextCell::new(time(resources.cpu), TextRole::Bold);
        let mut cells = vec![cpu, known(split.user).into(), known(split.system).into()];
        if self.table.whole.is_some() {
            let waits = |of: fn(&ScheduledTimes) -> Nanos| known(scheduled.as_ref().map(of)).into();
            cells.extend([
                waits(|resources| resources.woken),
                waits(|resources| resources.preempted),
            ]);
        }
        if !self.options.all {
            return cells;
        }
        let per_s = |n: u64| n as f64 / wall.as_secs().max(1e-9);
        let counts = |n: Option<u64>| n.map_or(NONE.into(), |n| rate(per_s(n)).into());
        let bytes = |n: Option<u64>| n.map_or(NONE.into(), |n| short_bytes(per_s(n)).into());
        cells.push(known(resources.run_delay).into());
        cells.push(counts(resources.switches.map(|s| s.voluntary)));
        cells.push(counts(resources.switches.map(|s| s.involuntary)));
        cells.push(counts(resources.faults.map(|f| f.minor)));
        cells.push(counts(resources.faults.map(|f| f.major)));
        cells.push(bytes(resources.io.map(|io| io.read_bytes)));
        cells.push(bytes(resources.io.map(|io| io.written_bytes)));
        cells
    }

    /// Those that were not there at both ends, by what they spent.
    fn changes(&self, document: &mut ReportDocument) {
        let mut lines = ReportTable::new(vec![
            TextColumn::text("UID"),
            TextColumn::figure("PID"),
            TextColumn::figure("CPU s"),
            TextColumn::figure("Seen s"),
            TextColumn::text(""),
            TextColumn::text("COMMAND"),
        ]);
        for ProcessRow { used, .. } in &self.table.processes {
            let what = match used.presence {
                ProcessPresence::Stayed => continue,
                ProcessPresence::Came => "came",
                ProcessPresence::Went => "went",
                ProcessPresence::CameAndWent => "came and went",
            };
            let mut cells = who(used);
            cells.push(TextCell::new(four_digits(used.resources.cpu.as_secs()), TextRole::Bold));
            cells.push(four_digits(used.wall.as_secs()).into());
            cells.extend([what.into(), clean(&used.command).into()]);
            lines.row(cells);
        }
        if !lines.is_empty() {
            document.heading(match self.table.whole {
                Some(_) => "Came and went (everything they spent in the interval)",
                None => "Came and went (what is known: up to the last look at them)",
            });
            document.table(&lines);
        }
    }

    /// Whose children ended, and what these had spent in their lives.
    fn waited_for(&self, document: &mut ReportDocument) {
        let mut lines = ReportTable::new(vec![
            TextColumn::text("UID"),
            TextColumn::figure("PID"),
            TextColumn::figure("CPU s"),
            TextColumn::text("COMMAND"),
        ]);
        for ProcessRow { used, .. } in &self.table.processes {
            if used.reaped_cpu > Nanos::ZERO && used.presence == ProcessPresence::Stayed {
                let mut cells = who(used);
                cells.push(four_digits(used.reaped_cpu.as_secs()).into());
                cells.push(clean(&used.command).into());
                lines.row(cells);
            }
        }
        if !lines.is_empty() {
            document.heading("Children that ended, over their whole lives, by who waited for them");
            document.table(&lines);
        }
    }

    fn notes(&self, document: &mut ReportDocument) {
        let table = self.table;
        let of = match table.of {
            ShareOf::System => format!("of all {}", counted(u64::from(table.cpus), "CPU")),
            ShareOf::Cpu => "of one CPU".to_owned(),
        };
        let early = if table.ended_early { ", ended early" } else { "" };
        let unit = match self.options.seconds {
            true => "CPU seconds".to_owned(),
            false => format!("percent {of}"),
        };
        let tick_pct = 100.0 * table.tick.as_secs() / table.wall.as_secs().max(1e-9);
        let source = match table.whole {
            Some(_) => "from switch to switch, interrupts and steal in it",
            None => "the process's own CPU clock",
        };
        let mut text = format!(
            "{}{early}; {unit}. CPU: {source}. USR and SYS: the same, divided by \
             ticks of {:.0} ms (one is {} of one CPU here). Machine: busy {}, steal {}.",
            seconds_of(table.wall),
            table.tick.as_micros() / 1e3,
            percent(tick_pct),
            percent(table.machine_busy_pct.min(100.0)),
            percent(table.machine_steal_pct),
        );
        if let Some(whole) = &table.whole {
            text += &whole_note(whole);
        }
        if self.options.all {
            text += " RUNQ: runnable without a CPU, over all threads. All else per second, READ and \
                     WRITTEN in bytes from and to storage; RSS at the end.";
            if table.unreadable > 0 {
                text += &format!(
                    " READ and WRITTEN of {} may be read by their users and root alone.",
                    counted(u64::from(table.unreadable), "process")
                );
            }
        }
        document.remark(&text, TextRole::Dim);
    }
}

/// What the scheduler's events come to on all CPUs.
fn whole_note(whole: &WholeMachine) -> String {
    let share = |time: Nanos| percent(100.0 * time.as_secs() / whole.wall.as_secs().max(1e-9));
    let missed = match whole.missed {
        0 => String::new(),
        missed => format!(" The kernel did not report {}.", counted(missed, "switch")),
    };
    let lost = match whole.lost {
        0 => String::new(),
        lost => format!(" Not all threads had room: {} lost.", counted(lost, "switch")),
    };
    format!(
        " WOKEN and PREEMPTED: runnable without a CPU since it was woken, or since another thread \
         was given its CPU, over all threads. All CPUs: threads {} ({} by their CPU clocks), idle \
         {}, unexplained {:.3} %.{missed}{lost}",
        share(whole.cpu),
        share(whole.clock),
        share(whole.idle),
        whole.unexplained_pct(),
    )
}

/// Headings of everything else that is spent, and of what is there at the end.
const ALL: [&str; 8] = [
    "VOLUNT.\nSWITCHES",
    "INVOL.\nSWITCHES",
    "MINOR\nFAULTS",
    "MAJOR\nFAULTS",
    "READ",
    "WRITTEN",
    "RSS",
    "THREADS",
];

fn who(used: &ProcessUse) -> Vec<TextCell> {
    vec![clean(&used.user).into(), used.id.pid.to_string().into()]
}

/// An interval with as many digits as it was measured to: `10.00 s`.
fn seconds_of(wall: Nanos) -> String {
    let value = wall.as_secs();
    if value < 1.0 { seconds(value) } else { format!("{} s", four_digits(value)) }
}
