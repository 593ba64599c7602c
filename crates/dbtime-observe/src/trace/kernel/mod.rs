//! The kernel's side as this process has it: its programs loaded, its tables read and written, and
//! its records read field by field.
//!
//! - `kernel_features`, `loading`, `refusal`, `probe_sites`, `probe_links`, `missed_events`,
//!   `links`, `grace`, `dispatch`, `sampling`: programs, from what this kernel has to detaching;
//! - `stream`, `kernel_tables`: settings that the programs read;
//! - `layout`, `executed`, `logins`, `stack_records`, `sum_layout`, `fields`: records that the
//!   programs write.

pub(super) mod dispatch;
pub(super) mod executed;
pub(super) mod fields;
pub(super) mod grace;
pub(super) mod kernel_features;
pub(super) mod kernel_tables;
pub(super) mod layout;
pub(super) mod links;
pub(super) mod loading;
pub(super) mod logins;
pub(super) mod missed_events;
pub(super) mod probe_links;
pub(super) mod probe_sites;
pub(super) mod refusal;
pub(super) mod sampling;
pub(super) mod stack_records;
pub(super) mod stream;
pub(super) mod sum_layout;
