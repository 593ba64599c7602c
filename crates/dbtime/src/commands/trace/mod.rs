//! `dbtime trace`: what running servers are asked, and how long each answer took.

mod json;

use crate::cli::TraceArgs;
use crate::exit::{Exit, Failure};
use crate::{interrupt, screen};
use dbtime_model::traced::{Ledger, TracedRequest};
use dbtime_model::{MonoNanos, Nanos, now};
use dbtime_observe::trace::{
    Capture, Left, ServerKind, Stream, TraceError, TracedServer, Wanted, command_name, servers,
};
use dbtime_report::terminal::{
    Shown, ledger_lines, request_heading, request_line, trace_histogram, trace_summary,
};
use std::borrow::Cow;
use std::io::Write as _;
use std::time::Duration;

/// How often the stream is looked at.
const LOOK: Duration = Duration::from_millis(20);

pub(crate) fn run(args: &TraceArgs) -> Result<Exit, Failure> {
    let wanted = Wanted {
        processes: args.processes.clone(),
        kind: args.server_kind.as_ref().map(|_| ServerKind::Mysql),
        ports: args.ports.clone(),
    };
    let servers = servers(&wanted)?;
    let stop = interrupt::install();
    let is_on = !args.summary && !args.histogram;
    let follows_unix = args.ports.is_empty();
    let stream = Stream { is_on, follows_unix, buffer: args.buffer << 10 };
    let mut capture = Capture::attach(&servers, stream)?;
    let mut view = View::new(args);
    for (what, why) in capture.left_out() {
        screen::note(&format!("not measured: {what} ({why})"));
    }
    view.begin(&servers);
    let end = args.time.map(|time| view.since + time);
    while !stop.is_set() && end.is_none_or(|end| now() < end) && !view.is_done() {
        std::thread::sleep(LOOK);
        match &mut view.ticks {
            Some(ticks) => ticks.look(&capture)?,
            None => {
                let requests = capture.take()?;
                view.show(&requests)?;
            }
        }
        if all_gone(&servers) {
            screen::note("every server that was watched has ended");
            stop.at(now());
        }
    }
    finish(args, capture, view)
}

fn finish(args: &TraceArgs, capture: Capture, mut view: View) -> Result<Exit, Failure> {
    let length = now() - view.since;
    let Left { requests, ledger, totals } = capture.detach()?;
    view.show(&requests)?;
    if args.summary {
        screen::result(&format!("Tracing ended   at {}\n", clock_time()));
        screen::result(&trace_summary(&totals, length, screen::wants_color()));
    } else if args.histogram {
        screen::result(&trace_histogram(&totals));
    }
    view.end(&ledger)?;
    Ok(if args.strict && !ledger.is_whole() { Exit::Invalid } else { Exit::Fine })
}

fn all_gone(servers: &[TracedServer]) -> bool {
    let is_there = |server: &TracedServer| {
        std::path::Path::new("/proc").join(server.process.to_string()).exists()
    };
    !servers.iter().any(is_there)
}

/// The time of day, where this machine is.
fn clock_time() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S").to_string()
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

    fn look(&mut self, capture: &Capture) -> Result<(), Failure> {
        let at = now();
        if at < self.due {
            return Ok(());
        }
        let count = capture.totals()?.all().count;
        let rate = (count - self.last.1) as f64 / (at - self.last.0).as_secs();
        screen::result(&format!("{}   throughput {rate:.0} queries/sec\n", clock_time()));
        (self.last, self.due) = ((at, count), at + self.every);
        Ok(())
    }
}

/// What is printed of the requests.
struct View<'a> {
    args: &'a TraceArgs,
    since: MonoNanos,
    room: Option<usize>,
    shown: u64,
    fingerprint: String,
    /// Instead of requests.
    ticks: Option<Ticks>,
}

impl<'a> View<'a> {
    fn new(args: &'a TraceArgs) -> Self {
        let (room, since) = (screen::columns(), now());
        let ticks = args.summary.then(|| Ticks::new(args.every, since));
        Self { args, since, room, shown: 0, fingerprint: String::new(), ticks }
    }

    fn is_done(&self) -> bool {
        self.args.requests.is_some_and(|most| self.shown >= most)
    }

    fn begin(&self, servers: &[TracedServer]) {
        for server in servers {
            let TracedServer { process, program, ports, .. } = server;
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            let socket = if self.args.ports.is_empty() { " and its Unix socket" } else { "" };
            let ports = match ports.len() {
                0 => "its Unix socket".to_owned(),
                _ => format!("port {}{socket}", ports.join(", ")),
            };
            screen::note(&format!("watching {program}, process {process}, {ports}"));
        }
        if self.args.summary {
            screen::result(&format!("Tracing started at {}\n", clock_time()));
        } else if !self.args.json && !self.args.histogram {
            screen::result(&request_heading());
        }
    }

    fn show(&mut self, requests: &[TracedRequest]) -> Result<(), Failure> {
        let mut text = String::new();
        for request in requests {
            if self.is_done() {
                break;
            }
            if self.is_wanted(request) {
                self.shown += 1;
                self.line(request, &mut text)?;
            }
        }
        if !text.is_empty() {
            screen::result(&text);
        }
        Ok(())
    }

    fn is_wanted(&self, request: &TracedRequest) -> bool {
        let args = self.args;
        let name = || command_name(request.command);
        let holds = |wanted: &String| {
            request.text.to_ascii_lowercase().contains(&wanted.to_ascii_lowercase())
        };
        args.slow.is_none_or(|slow| request.response() >= slow)
            && (!args.errors || request.error.is_some())
            && (args.commands.is_empty()
                || args.commands.iter().any(|command| command.eq_ignore_ascii_case(name())))
            && args.matching.as_ref().is_none_or(holds)
    }

    fn line(&mut self, request: &TracedRequest, out: &mut String) -> Result<(), Failure> {
        let command = command_name(request.command);
        let blocker = request.blocker.as_ref().and_then(|blocker| blocker.statement.as_deref());
        let [statement, blocker] = [request.text.as_ref(), blocker.unwrap_or_default()]
            .map(|text| self.may_be_shown(text));
        let shown = Shown { command, statement: &statement, blocker: &blocker };
        if self.args.json {
            *out += &json::line(request, self.since, shown).map_err(Failure::environment)?;
            out.push('\n');
        } else {
            request_line(request, self.since, shown, self.room, out);
        }
        Ok(())
    }

    /// A text without its literals, unless they are wanted.
    fn may_be_shown<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        if self.args.raw_sql {
            return Cow::Borrowed(text);
        }
        dbtime_sql::fingerprint(text, &mut self.fingerprint);
        Cow::Owned(self.fingerprint.clone())
    }

    fn end(&self, ledger: &Ledger) -> Result<(), Failure> {
        if self.args.json {
            let line = serde_json::json!({ "ledger": ledger });
            screen::result(&(serde_json::to_string(&line).map_err(Failure::environment)? + "\n"));
        } else {
            screen::result(&format!("\n{}", ledger_lines(ledger)));
        }
        // The last line is out before whoever waits for it is told that it was the last.
        let _ = std::io::stdout().flush();
        Ok(())
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::Environment(error.into())
    }
}
