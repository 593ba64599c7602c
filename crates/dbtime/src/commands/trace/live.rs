//! Watching servers that run.

use super::holder_notes::HolderNotes;
use super::view::TraceView;
use crate::cli::TraceArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::{interrupt, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::tracing::{PRIOR_AGE, TraceOptions, TraceOutcome, TraceSession};
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_report::top::prior_notes;
use std::process::Stdio;
use std::time::Duration;

/// How often the stream is read.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(super) fn run(args: &TraceArgs) -> Result<ProcessExit, CommandFailure> {
    let login = args.login.options(args.raw_sql);
    let install = || match &args.record {
        // The reader writes to it, and gives it its end when this process is gone.
        Some(file) => interrupt::install_with(format!("{} has what was seen", file.display())),
        None => interrupt::install(),
    };
    let (options, stderr) = (options(args), Stdio::inherit());
    let attached = TraceSession::attach(&options, &login, stderr, screen::note, install)?;
    let (session, holders, stop) = attached;
    session.confine()?;
    let since = session.since();
    let mut watch = LiveWatch {
        view: TraceView::new(args, since),
        holders: HolderNotes::new(holders),
        is_recorded: args.record.is_some(),
        prior_due: Some(since + PRIOR_AGE),
        ticks: args.has_ticks().then(|| LiveTicks::new(args.every, since)),
        session,
    };
    print_notes(watch.session.unavailable());
    let heading = watch.session.heading();
    heading.servers.iter().for_each(|name| screen::note(&format!("watching {name}")));
    watch.view.begin(heading)?;
    let ended = watch.watch(&stop, args.time.map(|time| since + time));
    // What was seen is printed, also when nothing more can be, or be recorded.
    let failed = ended.err().map(CommandFailure::report);
    // One without a set end is ended by Ctrl-C.
    let is_part = args.time.is_some() || args.requests.is_some_and(|most| !watch.view.has(most));
    let exit = watch.finish(args).map(|exit| if is_part { exit.of_part() } else { exit });
    // Where both fail, it is for the same reason.
    failed.map_or(exit, Ok)
}

fn options(args: &TraceArgs) -> TraceOptions {
    let adds_up = args.summary || args.histogram;
    TraceOptions {
        servers: (&args.servers).into(),
        user: args.user.clone(),
        database: args.database.clone(),
        hands_on: !adds_up || args.record.is_some(),
        adds_up: adds_up || args.record.is_some(),
        keeps_literals: args.raw_sql,
        pattern: args.matching.clone(),
        step: args.step,
        buffer_bytes: args.buffer << 10,
        max_cost_pct: args.max_cost,
        record: args.record.clone().map(Into::into),
        driver: None,
        stacks: false,
        borrows_terminal: false,
    }
}

fn print_notes(notes: &[String]) {
    notes.iter().for_each(|note| screen::note(note));
}

/// What becomes of requests as they end.
struct LiveWatch<'a> {
    session: TraceSession,
    view: TraceView<'a>,
    ticks: Option<LiveTicks>,
    holders: HolderNotes,
    /// Whether it is of use although nobody sees anything.
    is_recorded: bool,
    /// When it is said who was at work before; `None`: it was.
    prior_due: Option<MonoNanos>,
}

impl LiveWatch<'_> {
    fn watch(&mut self, stop: &RunStop, end: Option<MonoNanos>) -> Result<(), CommandFailure> {
        while !stop.is_set() && end.is_none_or(|end| now() < end) && !self.view.is_done() {
            std::thread::sleep(POLL_INTERVAL);
            if !self.is_recorded {
                screen::look_after_reader();
            }
            let progress = self.session.poll()?;
            self.view.show(&progress.requests)?;
            print_notes(&progress.notes);
            if let Some(ticks) = &mut self.ticks {
                ticks.print(&mut self.session)?;
            }
            self.holders.poll(&mut self.session)?;
            self.note_prior()?;
            if self.session.is_over() {
                stop.at(now());
            }
        }
        Ok(())
    }

    /// Says who was at work before: of that there are no lines.
    fn note_prior(&mut self) -> Result<(), CommandFailure> {
        if self.prior_due.take_if(|due| now() >= *due).is_none() {
            return Ok(());
        }
        let connections = self.session.connections()?;
        let mut prior = self.session.prior()?;
        self.holders.complete(&mut prior, &connections);
        let servers = self.session.servers();
        let name = |process: u32| {
            let program = servers.iter().find(|server| server.process == process);
            let program = program.map_or("server", |server| server.program.as_str());
            format!("{program}, process {process}")
        };
        print_notes(&prior_notes(&prior, name));
        Ok(())
    }

    fn finish(mut self, args: &TraceArgs) -> Result<ProcessExit, CommandFailure> {
        let lacks_parts = self.session.lacks_parts();
        let begin = self.session.heading().clone();
        let outcome = self.session.finish()?;
        let TraceOutcome { requests, end, unrecorded, notes, reader } = outcome;
        self.view.show(&requests)?;
        print_notes(&notes);
        let failed = unrecorded.map(|error| CommandFailure::from(error).report());
        self.view.end(&begin, &end)?;
        // Whoever waits for the report does not wait for this.
        drop(reader);
        let is_whole = end.ledger.is_whole() && !lacks_parts;
        let exit =
            if args.strict && !is_whole { ProcessExit::Undecided } else { ProcessExit::Fine };
        Ok(failed.unwrap_or(exit))
    }
}

/// Throughput, every so often.
struct LiveTicks {
    every: Nanos,
    due: MonoNanos,
    last: (MonoNanos, u64),
}

impl LiveTicks {
    fn new(every: Nanos, since: MonoNanos) -> Self {
        Self { every, due: since + every, last: (since, 0) }
    }

    fn print(&mut self, session: &mut TraceSession) -> Result<(), CommandFailure> {
        let at = now();
        if at < self.due {
            return Ok(());
        }
        let Some(count) = session.statements()? else { return Ok(()) };
        let rate = (count - self.last.1) as f64 / (at - self.last.0).as_secs();
        screen::result(&format!("{}   throughput {rate:.0} queries/sec\n", session.clock()));
        (self.last, self.due) = ((at, count), at + self.every);
        Ok(())
    }
}
