//! Who waits for whose locks, as a server itself has it: what to ask it, and what its answers mean.
//!
//! Asking needs a login and is done elsewhere: whoever has one executes each statement that
//! [`LockSurvey::next`] gives, and hands what came of it to [`LockSurvey::take`]. The kernel sees
//! who let a lock go; who holds one that nobody has let go of only the server knows.
//!
//! All products answer with the same columns, so that there is one reader of them (`rows`); what is
//! to be asked is a file for each protocol.

mod listed;
mod mysql;
mod postgres;
mod rows;
mod source;
mod survey;

pub use listed::{listed_sessions, session_lists};
pub use survey::{LockSurvey, SurveyAnswer, SurveyRefusal};
