//! sysbench scripts: LuaJIT, the interface that scripts expect, its options and its reports.
//!
//! ```text
//!   Settings ──► SysbenchScript ── a thread ──► State: LuaJIT, our Lua, the desk
//!                                                 │
//!                engine ◄── Step ── Client ◄── slot, coroutine with its own globals
//! ```
//!
//! A state is shared by the clients of a thread: code is compiled once, and each client has globals
//! of its own. The tables of the standard libraries (`string`, `math`, …) are shared between
//! clients, and so are the declarations of `ffi`.

mod api;
mod declared;
mod desk;
mod dispatch;
mod failure;
pub mod help;
mod histogram;
mod literal;
mod main_state;
pub mod options;
mod output;
mod paths;
mod program;
mod random;
pub mod report;
mod script;
mod settings;
pub mod sqlite;
mod state;
pub mod stats;
mod unique;
mod visits;

pub use declared::{DeclaredCommand, ScriptDeclarations, declared_options};
pub use main_state::{MainScript, MainState, MainTask};
pub use output::{Output, Priority};
pub use script::{SysbenchError, SysbenchScript};
pub use settings::{ScriptOptions, SysbenchCommand, SysbenchExit, SysbenchSettings, driver_name};

#[cfg(test)]
mod tests;
