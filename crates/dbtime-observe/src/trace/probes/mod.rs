//! Probes in servers' programs and libraries: which places they go to, and how long they stay.
//!
//! - `program`, `constants`, `imports`, `budget`: a program file, read within bounds;
//! - `waits`, `commits`, `cache`, `tls`, `texts`, `portals`, `wait_event`, `tranches`: places and
//!   tables in it, one concern each;
//! - `server_probes`: all probes of a server; `attacher`: attaches them; `demand`: probes that are
//!   attached only while needed; `trap`: the cost of a hit.

mod attacher;
mod budget;
pub(super) mod cache;
pub(super) mod commits;
pub(super) mod constants;
pub(super) mod demand;
pub(super) mod imports;
pub(super) mod portals;
pub(super) mod program;
pub(super) mod server_probes;
pub(super) mod texts;
pub(super) mod tls;
pub(super) mod tranches;
pub(super) mod trap;
pub(super) mod wait_event;
pub(super) mod waits;
