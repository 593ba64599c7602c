//! The terminal, which is as it was when this goes, also after a panic. Where the process goes at
//! once, the tracer's helper sees to that.

use super::keyboard::{TerminalInput, TopKeyboard};
use super::output::TopOutput;
use crate::exit::CommandFailure;
use crate::screen;
use dbtime_observe::trace::BorrowedTerminal;
use dbtime_report::top::{TopScene, TopState, draw};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::process::{Pid, getpgrp};
use rustix::termios::{tcgetpgrp, tcgetwinsize};
use std::io;
use std::time::Duration;

/// How long the terminal may take for its last words.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(200);

pub(super) struct TopTerminal {
    own: Terminal<CrosstermBackend<TopOutput>>,
    output: TopOutput,
    keyboard: TopKeyboard,
    borrowed: Option<BorrowedTerminal>,
    /// This process's.
    group: Pid,
    /// Columns and rows.
    size: (u16, u16),
    has_changed: bool,
}

impl TopTerminal {
    /// Takes the whole screen, which the helper restores where this process is killed.
    pub(super) fn open(
        output: TopOutput,
        borrowed: Option<BorrowedTerminal>,
    ) -> Result<Self, CommandFailure> {
        if !screen::is_terminal() {
            // Another one that this process may have is not meant.
            return Err(CommandFailure::environment("the terminal has gone"));
        }
        let keyboard = TopKeyboard::open().map_err(CommandFailure::environment)?;
        let group = getpgrp();
        leave_with_panics();
        let size = window_size();
        enable_raw_mode().map_err(CommandFailure::environment)?;
        let mut first = output.clone();
        execute!(first, EnterAlternateScreen).map_err(CommandFailure::environment)?;
        let own = Terminal::new(CrosstermBackend::new(first));
        let own = own.map_err(CommandFailure::environment)?;
        Ok(Self { own, output, keyboard, borrowed, group, size, has_changed: false })
    }

    /// Draws, unless the terminal has not taken yet what was drawn before: then it is out of date,
    /// and drawn on later.
    pub(super) fn draw(
        &mut self,
        scene: &TopScene,
        state: &mut TopState,
    ) -> Result<(), CommandFailure> {
        self.has_changed = !self.output.send();
        if !self.has_changed {
            self.own
                .draw(|frame| draw(frame, scene, state))
                .map_err(CommandFailure::environment)?;
            // What it has not taken of this is sent when it can be.
            self.has_changed = !self.output.send();
        }
        Ok(())
    }

    /// A key, if one is pressed within so long.
    pub(super) fn input(&mut self, patience: Duration) -> Result<TerminalInput, CommandFailure> {
        let input = self.keyboard.key(patience).map_err(CommandFailure::environment)?;
        let size = window_size();
        self.has_changed |= size != std::mem::replace(&mut self.size, size);
        Ok(input)
    }

    /// Whether the terminal shows something else than was drawn, or has another size.
    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Whether somebody else has the terminal: whoever changes it then is stopped.
    fn is_in_background(&self) -> bool {
        tcgetpgrp(io::stdin()).is_ok_and(|group| group != self.group)
    }
}

impl Drop for TopTerminal {
    fn drop(&mut self) {
        if self.is_in_background() {
            // Not given back, it is the helper's to restore.
            self.output.discard();
            return;
        }
        // A terminal that has gone is as it was.
        let _ = disable_raw_mode();
        let _ = execute!(self.output, LeaveAlternateScreen, Show);
        self.output.send_within(LEAVE_TIMEOUT);
        if let Some(borrowed) = &mut self.borrowed {
            borrowed.give_back();
        }
    }
}

/// Columns and rows; none where nobody can tell any more.
fn window_size() -> (u16, u16) {
    tcgetwinsize(io::stdout()).map_or((0, 0), |size| (size.ws_col, size.ws_row))
}

/// Has a panic give the screen back before it is told of.
fn leave_with_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // What cannot be given back is given back by the helper.
        let _ = disable_raw_mode();
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        before(panic);
    }));
}
