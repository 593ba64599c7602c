//! Who holds what others wait for, as notes beside the requests: once, and again when that has
//! changed.

use crate::exit::CommandFailure;
use crate::screen;
use dbtime_lab::tracing::{HolderWatch, TraceSession};
use dbtime_machine::now;
use dbtime_model::lock_picture::LockPicture;
use dbtime_model::traced_live::LiveConnection;
use dbtime_model::traced_prior::PriorWork;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_report::{lock_summary, lock_tree, one_line};

/// No more often than that.
const BETWEEN_NOTES: Nanos = Nanos::from_secs(3);

/// Lines of a tree.
const MAX_LINES: usize = 40;

/// What a login finds out, and what of it was printed.
pub(super) struct HolderNotes {
    holders: HolderWatch,
    last: Option<LockPicture>,
    due: MonoNanos,
    /// Of what the login lacks.
    notes: Vec<String>,
}

impl HolderNotes {
    pub(super) fn new(holders: HolderWatch) -> Self {
        let mut new = Self { holders, last: None, due: now(), notes: Vec::new() };
        new.show_notes();
        new
    }

    /// As [`HolderWatch::complete`].
    pub(super) fn complete(&mut self, work: &mut PriorWork, connections: &[LiveConnection]) {
        self.holders.complete(work, connections);
    }

    /// As [`HolderWatch::poll`]; prints what is new.
    pub(super) fn poll(&mut self, session: &mut TraceSession) -> Result<(), CommandFailure> {
        if !self.holders.poll(session)? {
            return Ok(());
        }
        self.show_notes();
        let Some(picture) = self.holders.picture() else {
            self.last = None;
            return Ok(());
        };
        let is_known = self.last.as_ref().is_some_and(|last| last.is_alike(picture));
        if !is_known && now() >= self.due {
            screen::note(&note_of(picture, &session.clock()));
            (self.last, self.due) = (Some(picture.clone()), now() + BETWEEN_NOTES);
        }
        Ok(())
    }

    /// Prints what the login lacks, once.
    fn show_notes(&mut self) {
        let notes = self.holders.notes();
        for note in notes.iter().filter(|note| !self.notes.contains(note)) {
            screen::note(&one_line(note));
        }
        self.notes = notes.to_vec();
    }
}

fn note_of(picture: &LockPicture, clock: &str) -> String {
    let lines = lock_tree(picture, MAX_LINES);
    let lines: String = lines.iter().map(|line| format!("\n  {line}")).collect();
    format!("{clock}   {}{lines}", lock_summary(picture))
}
