//! The screen of `dbtime top`: where statements spend their time, who they are and whom they wait
//! for, as it goes on. A pure function from a [`TopScene`] and what the reader has chosen
//! ([`TopState`]) to what stands on the screen.

mod bars;
mod blockers;
mod connections;
mod detail;
mod frame;
mod preemptors;
mod prior;
mod rows;
mod scene;
mod state;
mod statements;
mod waiting;

pub use frame::draw;
pub use prior::prior_notes;
pub use scene::{LockParty, LockWait, LoginScene, SceneServer, Span, TopScene};
pub use state::{SortOrder, TopState, TopView, UserAction};

#[cfg(test)]
mod tests;
