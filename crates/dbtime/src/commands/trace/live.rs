//! Watching servers that run.

use super::holder_notes::HolderNotes;
use super::holders::Holders;
use super::recording::{NewFile, Recording};
use super::thrift::Thrift;
use super::view::View;
use super::wall_clock::WallClock;
use super::watched::Watched;
use crate::cli::{ServersArgs, TraceArgs};
use crate::exit::{Exit, Failure};
use crate::{interrupt, screen};
use dbtime_engines::plan::Stop;
use dbtime_machine::now;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::TraceEnd;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::trace::{Capture, HeldSignals, Left, Stream, TracedServer};
use std::time::Duration;

/// How often the stream is looked at.
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn run(args: &TraceArgs) -> Result<Exit, Failure> {
    let mut watched = Watched::find(&args.servers)?;
    let names: Vec<String> = watched.servers().iter().map(|one| name(one, &args.servers)).collect();
    let stream = stream(args, &watched);
    let mut holders = Holders::connect(&args.login, args.raw_sql)?;
    // What is opened is opened with the rights of whoever asks for it: later there are none.
    let file = args.record.as_deref().map(NewFile::create).transpose()?;
    let clock = WallClock::new();
    let held = HeldSignals::hold();
    let mut capture = Capture::attach(watched.servers(), &stream)?;
    let stop = interrupt::install();
    drop(held);
    let (since, began) = (capture.since(), clock.time());
    holders.list_sessions(&capture, watched.servers());
    let recording =
        file.map(|new| Recording::begin(new, args, (since, began.clone()), names.clone()));
    let recording = recording.transpose()?;
    capture.confine()?;
    let view = View::new(args, since);
    let mut watch = Watch {
        view,
        clock,
        recording,
        ticks: None,
        thrift: None,
        holders: HolderNotes::new(holders),
    };
    watch.thrift = args.max_cost.map(|most| Thrift::new(most, stream.is_on, since));
    watch.ticks = (args.summary && !args.json).then(|| Ticks::new(args.every, since));
    watched.left_out(&capture).iter().for_each(|note| screen::note(note));
    names.iter().for_each(|name| screen::note(&format!("watching {name}")));
    watch.view.begin(&began);
    let end = args.time.map(|time| since + time);
    let ended = watch.watch(&mut capture, &mut watched, (&stop, end));
    // What was seen is told, also when nothing more can be, or be recorded.
    let failed = ended.err().map(Failure::tell);
    let exit = watch.finish(args, capture)?;
    Ok(failed.unwrap_or(exit))
}

fn stream(args: &TraceArgs, watched: &Watched) -> Stream {
    let adds_up = args.summary || args.histogram;
    Stream {
        user: args.user.clone(),
        database: args.database.clone(),
        is_on: !adds_up || args.record.is_some(),
        // What is too dear to be handed on is added up.
        adds_up: adds_up || args.record.is_some() || args.max_cost.is_some(),
        follows_unix: args.servers.ports.is_empty(),
        follows_new: watched.follows_new(),
        step: args.step.map_or(0, |step| (step.0 / 1000) as u32),
        buffer: args.buffer << 10,
    }
}

/// What is said of a server, for people.
fn name(server: &TracedServer, args: &ServersArgs) -> String {
    let TracedServer { process, program, ports, .. } = server;
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    let socket = if args.ports.is_empty() { " and its Unix socket" } else { "" };
    let ports = match ports.len() {
        0 => "its Unix socket".to_owned(),
        _ => format!("port {}{socket}", ports.join(", ")),
    };
    format!("{program}, process {process}, {ports}")
}

/// What becomes of requests as they end.
struct Watch<'a> {
    view: View<'a>,
    clock: WallClock,
    recording: Option<Recording>,
    ticks: Option<Ticks>,
    thrift: Option<Thrift>,
    holders: HolderNotes,
}

impl Watch<'_> {
    fn watch(
        &mut self,
        capture: &mut Capture,
        watched: &mut Watched,
        (stop, end): (&Stop, Option<MonoNanos>),
    ) -> Result<(), Failure> {
        while !stop.is_set() && end.is_none_or(|end| now() < end) && !self.view.is_done() {
            std::thread::sleep(LOOK);
            self.look(capture)?;
            watched.look(capture)?.iter().for_each(|note| screen::note(note));
            self.holders.look(capture, &self.clock)?;
            if watched.is_over() {
                stop.at(now());
            }
        }
        Ok(())
    }

    fn look(&mut self, capture: &mut Capture) -> Result<(), Failure> {
        capture.tend()?;
        self.take(capture.take()?)?;
        if let Some(thrift) = &mut self.thrift {
            thrift.look(capture)?.iter().for_each(|note| screen::note(note));
        }
        // What is only counted tells no statements from other requests.
        match &mut self.ticks {
            Some(ticks) if self.thrift.as_ref().and_then(Thrift::added_up).is_none() => {
                ticks.look(capture, &self.clock)
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, requests: Vec<TracedRequest>) -> Result<(), Failure> {
        let Some(recording) = &mut self.recording else { return self.view.show(&requests) };
        let added = recording.add(requests);
        if added.is_err() {
            // Anything behind the gap, the end above all, would hide it.
            self.recording = None;
        }
        added
    }

    fn finish(mut self, args: &TraceArgs, capture: Capture) -> Result<Exit, Failure> {
        let length = now() - self.view.since;
        let Left { requests, ledger, cost, totals, attached } = capture.detach()?;
        let taken = self.take(requests);
        let added_up = self.thrift.as_ref().and_then(Thrift::added_up);
        let (clock, cost) = (self.clock.time(), Some(cost));
        let end = TraceEnd { length, added_up, clock, ledger, cost, totals };
        let recording = self.recording;
        let recorded = taken.and_then(|()| recording.map_or(Ok(()), |file| file.end(&end)));
        let failed = recorded.err().map(Failure::tell);
        self.view.end(&end, args.step.unwrap_or(Nanos::ZERO))?;
        // Whoever waits for the report does not wait for this.
        drop(attached);
        let exit = if args.strict && !ledger.is_whole() { Exit::Undecided } else { Exit::Fine };
        Ok(failed.unwrap_or(exit))
    }
}

/// Throughput, every so often.
struct Ticks {
    every: Nanos,
    due: MonoNanos,
    last: (MonoNanos, u64),
}

impl Ticks {
    fn new(every: Nanos, since: MonoNanos) -> Self {
        Self { every, due: since + every, last: (since, 0) }
    }

    fn look(&mut self, capture: &Capture, clock: &WallClock) -> Result<(), Failure> {
        let at = now();
        if at < self.due {
            return Ok(());
        }
        let count = capture.statements()?;
        let rate = (count - self.last.1) as f64 / (at - self.last.0).as_secs();
        screen::result(&format!("{}   throughput {rate:.0} queries/sec\n", clock.time()));
        (self.last, self.due) = ((at, count), at + self.every);
        Ok(())
    }
}
