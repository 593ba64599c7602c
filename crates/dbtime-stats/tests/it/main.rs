//! Verdicts and fits on simulated studies of which the truth is known.

mod false_alarms;
mod paired_keys;
mod policy;
mod scalability;
mod simulated;
