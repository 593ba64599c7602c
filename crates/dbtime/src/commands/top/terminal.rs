//! The terminal, which is as it was when this goes, also after a panic. Where the process goes at
//! once, the tracer's helper sees to that.

use crate::exit::CommandFailure;
use dbtime_observe::trace::BorrowedTerminal;
use dbtime_report::top::{TopScene, TopState, draw};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use std::time::Duration;

pub(super) struct TopTerminal {
    own: DefaultTerminal,
    borrowed: Option<BorrowedTerminal>,
    has_changed: bool,
}

impl TopTerminal {
    /// Takes the whole screen, which the helper restores where this process is killed.
    pub(super) fn open(borrowed: Option<BorrowedTerminal>) -> Result<Self, CommandFailure> {
        // It also sees to it that a panic gives the screen back before it is told of.
        let own = ratatui::try_init().map_err(CommandFailure::environment)?;
        // What listens for keys is made with the first question for one.
        event::poll(Duration::ZERO).map_err(CommandFailure::environment)?;
        Ok(Self { own, borrowed, has_changed: false })
    }

    pub(super) fn draw(
        &mut self,
        scene: &TopScene,
        state: &mut TopState,
    ) -> Result<(), CommandFailure> {
        self.has_changed = false;
        self.own.draw(|frame| draw(frame, scene, state)).map_err(CommandFailure::environment)?;
        Ok(())
    }

    /// A key, if one is pressed within so long.
    pub(super) fn key(&mut self, patience: Duration) -> Result<Option<KeyEvent>, CommandFailure> {
        if !event::poll(patience).map_err(CommandFailure::environment)? {
            return Ok(None);
        }
        match event::read().map_err(CommandFailure::environment)? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Ok(Some(key)),
            Event::Resize(..) => {
                self.has_changed = true;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Whether the terminal has another size than when it was drawn on.
    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl Drop for TopTerminal {
    fn drop(&mut self) {
        ratatui::restore();
        if let Some(borrowed) = &mut self.borrowed {
            borrowed.give_back();
        }
    }
}
