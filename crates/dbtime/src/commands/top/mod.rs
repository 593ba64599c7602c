//! `dbtime top`: where the time of running servers goes, as it goes.

mod feed;
mod terminal;

use super::trace::holders::Holders;
use super::trace::watched::Watched;
use crate::cli::TopArgs;
use crate::exit::{Exit, Failure};
use crate::{interrupt, screen};
use dbtime_engines::plan::Stop;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::trace::{Capture, HeldSignals, Stream, TracedServer};
use dbtime_report::terminal::{cost_line, ledger_lines};
use dbtime_report::top::{Scene, TopState, Wish};
use feed::Feed;
use std::time::Duration;
use terminal::Terminal;

/// How often the stream is looked at, at the least.
const LOOK: Duration = Duration::from_millis(50);

/// Where requests wait until then. Unit: bytes.
const BUFFER: u32 = 8 << 20;

pub(crate) fn run(args: &TopArgs) -> Result<Exit, Failure> {
    if !screen::is_terminal() {
        return Err(Failure::usage(
            "`dbtime top` takes a terminal; `dbtime trace --summary` prints the same at the end",
        ));
    }
    let mut watched = Watched::find(&args.servers)?;
    let wanted = Stream {
        is_on: true,
        adds_up: true,
        follows_unix: args.servers.ports.is_empty(),
        follows_new: watched.follows_new(),
        buffer: BUFFER,
        ..Stream::default()
    };
    // What it takes is gone once the watching begins.
    let mut holders = Holders::connect(&args.login, args.raw_sql)?;
    let held = HeldSignals::hold();
    let mut capture = Capture::attach(watched.servers(), &wanted)?;
    let stop = interrupt::quietly();
    drop(held);
    holders.list_sessions(&capture, watched.servers());
    let feed = Feed::new(args.raw_sql, &mut capture)?;
    let notes = watched.left_out(&capture);
    let mut top = Top {
        capture,
        feed,
        holders,
        state: TopState::new(screen::wants_color()),
        scene: Scene::default(),
        due: now(),
        every: args.every,
        notes,
    };
    let ended = {
        let mut terminal = Terminal::open(&mut top.capture)?;
        top.capture.confine()?;
        top.watch(&mut terminal, &mut watched, &stop)
    };
    // While the screen was there, there was no room for them.
    top.notes.iter().for_each(|note| screen::note(note));
    let length = now() - top.capture.since();
    let left = top.capture.detach()?;
    screen::result(&ledger_lines(&left.ledger));
    screen::result(&cost_line(&left.cost, left.ledger.ended, length));
    ended.map(|()| Exit::Fine)
}

/// A server as the screen's first line has room for it.
fn short_name(server: &TracedServer) -> String {
    let ports: String = server.ports.iter().map(|port| format!(" :{port}")).collect();
    format!("{} {}{ports}", server.program, server.process)
}

struct Top {
    capture: Capture,
    feed: Feed,
    holders: Holders,
    state: TopState,
    scene: Scene,
    due: MonoNanos,
    every: Nanos,
    /// What there is to say of servers, and of what they do not give.
    notes: Vec<String>,
}

impl Top {
    fn watch(
        &mut self,
        terminal: &mut Terminal,
        watched: &mut Watched,
        stop: &Stop,
    ) -> Result<(), Failure> {
        while !stop.is_set() && !watched.is_over() {
            self.capture.tend()?;
            self.feed.take(self.capture.take()?);
            self.notes.extend(watched.look(&mut self.capture)?);
            let is_due = now() >= self.due;
            if is_due {
                self.due = now() + self.every;
                self.feed.servers = watched.servers().iter().map(short_name).collect();
                self.count()?;
            }
            let has_found = self.holders.look(&mut self.capture)?;
            if has_found && !self.state.is_frozen {
                self.scene.login.clone_from(self.holders.scene());
            }
            let wait = Duration::from_nanos((self.due - now()).0).min(LOOK);
            let wish = terminal.key(wait)?.map(|key| self.state.key(key));
            match wish {
                Some(Wish::Quit) => break,
                Some(Wish::Restart) => self.restart()?,
                Some(Wish::Nothing) | None => {}
            }
            if is_due || has_found || wish.is_some() || terminal.has_changed() {
                terminal.draw(&self.scene, &mut self.state)?;
            }
        }
        Ok(())
    }

    /// What has come since the last time; a screen that stands still keeps what it shows.
    fn count(&mut self) -> Result<(), Failure> {
        let scene = self.scene()?;
        if !self.state.is_frozen {
            self.scene = scene;
        }
        Ok(())
    }

    fn scene(&mut self) -> Result<Scene, Failure> {
        let scene = self.feed.scene(&mut self.capture)?;
        Ok(Scene { login: self.holders.scene().clone(), ..scene })
    }

    fn restart(&mut self) -> Result<(), Failure> {
        self.feed.restart(&mut self.capture)?;
        self.due = now() + self.every;
        self.scene = self.scene()?;
        Ok(())
    }
}
