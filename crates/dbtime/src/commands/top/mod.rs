//! `dbtime top`: where the time of running servers goes, as it goes.

mod feed;
mod keyboard;
mod output;
mod reader_stderr;
mod terminal;

use crate::cli::TopArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::{interrupt, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::tracing::{HolderWatch, TraceOptions, TraceOutcome, TraceSession};
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::trace::TracedServer;
use dbtime_report::terminal::{cost_line, ledger_lines};
use dbtime_report::top::{LoginScene, SceneServer, TopScene, TopState, UserAction};
use feed::TopFeed;
use keyboard::TerminalInput;
use output::TopOutput;
use reader_stderr::ReaderStderr;
use std::time::Duration;
use terminal::TopTerminal;

/// How often the stream is read, at the least.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Where requests wait until then.
const BUFFER_BYTES: u32 = 8 << 20;

pub(crate) fn run(args: &TopArgs) -> Result<ProcessExit, CommandFailure> {
    if !screen::is_terminal() {
        return Err(CommandFailure::usage(
            "`dbtime top` needs a terminal; `dbtime trace --summary` prints the same at the end",
        ));
    }
    let options = TraceOptions {
        servers: (&args.servers).into(),
        hands_on: true,
        adds_up: true,
        keeps_literals: args.raw_sql,
        buffer_bytes: BUFFER_BYTES,
        borrows_terminal: true,
        ..TraceOptions::default()
    };
    let login = args.login.options(args.raw_sql);
    let output = TopOutput::open().map_err(CommandFailure::environment)?;
    let last_words = output.clone();
    // It goes when the screen and the reader have gone.
    let stderr = ReaderStderr::new().map_err(CommandFailure::environment)?;
    let reader_stderr = stderr.for_reader().map_err(CommandFailure::environment)?;
    // While the screen is there, there is no room for it.
    let unseen: fn(&str) = |_| ();
    let attached =
        TraceSession::attach(&options, &login, reader_stderr, unseen, interrupt::quietly)?;
    let (mut session, holders, stop) = attached;
    let feed = TopFeed::new(&mut session)?;
    let notes = session.unavailable().to_vec();
    let mut top = TopScreen {
        session,
        feed,
        holders,
        state: TopState::new(screen::has_color()),
        scene: TopScene::default(),
        due: now(),
        every: args.every,
        notes,
    };
    let ended = {
        let mut terminal = TopTerminal::open(output, top.session.take_terminal())?;
        top.session.confine()?;
        top.watch(&mut terminal, &stop)
    };
    let finished = top.session.finish();
    // Nothing is watched any more: what follows may wait for a terminal that stands still.
    last_words.send_within(Duration::MAX);
    // While the screen was there, there was no room for them.
    top.notes.iter().for_each(|note| screen::note(note));
    let TraceOutcome { end, reader, .. } = finished?;
    screen::result(&ledger_lines(&end.ledger));
    if let Some(cost) = end.cost {
        screen::result(&cost_line(&cost, end.ledger.ended, end.length));
    }
    drop(reader);
    ended.map(|()| ProcessExit::Fine)
}

/// A server as the screen's first line has room for it.
fn scene_server(server: &TracedServer) -> SceneServer {
    let TracedServer { process, program, ports, .. } = server;
    let ports: String = ports.iter().map(|port| format!(" :{port}")).collect();
    SceneServer { process: *process, name: format!("{program} {process}{ports}") }
}

/// What a login has brought, as the screen has it.
fn login_scene(holders: &HolderWatch) -> LoginScene {
    LoginScene {
        is_there: holders.has_login(),
        server: holders.server(),
        is_elsewhere: holders.is_elsewhere(),
        protocol: holders.protocol(),
        picture: holders.picture().cloned(),
        notes: holders.notes().to_vec(),
    }
}

struct TopScreen {
    session: TraceSession,
    feed: TopFeed,
    holders: HolderWatch,
    state: TopState,
    scene: TopScene,
    due: MonoNanos,
    every: Nanos,
    /// What there is to say of servers, and of what they do not give.
    notes: Vec<String>,
}

impl TopScreen {
    fn watch(&mut self, terminal: &mut TopTerminal, stop: &RunStop) -> Result<(), CommandFailure> {
        while !stop.is_set() && !self.session.is_over() {
            let progress = self.session.poll()?;
            self.feed.take(progress.requests);
            self.notes.extend(progress.notes);
            let is_due = now() >= self.due;
            if is_due {
                self.due = now() + self.every;
                self.feed.servers = self.session.servers().iter().map(scene_server).collect();
                self.count()?;
            }
            let has_found = self.holders.poll(&mut self.session)?;
            if has_found && !self.state.is_frozen {
                self.scene.login = login_scene(&self.holders);
            }
            let wait = Duration::from_nanos((self.due - now()).0).min(POLL_INTERVAL);
            let action = match terminal.input(wait)? {
                TerminalInput::Key(key) => Some(self.state.key(key)),
                TerminalInput::Nothing => None,
                TerminalInput::Gone => break,
            };
            match action {
                Some(UserAction::Quit) => break,
                Some(UserAction::Restart) => self.restart()?,
                Some(UserAction::Nothing) | None => {}
            }
            if is_due || has_found || action.is_some() || terminal.has_changed() {
                terminal.draw(&self.scene, &mut self.state)?;
            }
        }
        Ok(())
    }

    /// What has come since the last time; a screen that stands still keeps what it shows.
    fn count(&mut self) -> Result<(), CommandFailure> {
        let scene = self.scene()?;
        if !self.state.is_frozen {
            self.scene = scene;
        }
        Ok(())
    }

    fn scene(&mut self) -> Result<TopScene, CommandFailure> {
        let mut scene = self.feed.scene(&mut self.session)?;
        self.holders.complete(&mut scene.prior, &scene.connections);
        Ok(TopScene { login: login_scene(&self.holders), ..scene })
    }

    fn restart(&mut self) -> Result<(), CommandFailure> {
        self.feed.restart(&mut self.session)?;
        self.due = now() + self.every;
        self.scene = self.scene()?;
        Ok(())
    }
}
