//! sysbench scripts: LuaJIT, the interface that scripts expect, its options and its reports.
//!
//! ```text
//!   Settings ──► SysbenchScript ── a thread ──► State: LuaJIT, our Lua, the host
//!                                                 │
//!                engine ◄── Step ── Client ◄── slot, coroutine with its own globals
//! ```
//!
//! A state is shared by the clients of a thread: code is compiled once, and each client has globals
//! of its own. The tables of the standard libraries (`string`, `math`, …) are shared between
//! clients, and so are the declarations of `ffi`.

mod api;
mod declarations;
mod dispatch;
mod failure;
pub mod help;
mod histogram;
mod literal;
mod lua_host;
mod lua_state;
mod lua_visits;
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
pub mod stats;
mod unique;

pub use declarations::{DeclaredCommand, ScriptDeclarations, declared_options};
pub use main_state::{MainScript, MainState, MainTask};
pub use output::{LogPriority, ScriptOutput};
pub use script::{SysbenchError, SysbenchScript};
pub use settings::{ScriptOptions, SysbenchCommand, SysbenchExit, SysbenchSettings, driver_name};

#[cfg(test)]
mod tests;
