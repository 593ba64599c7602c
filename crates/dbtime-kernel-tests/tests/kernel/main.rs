//! The kernel's programs on a simulated kernel.

mod arrivals;
mod conversation;
mod copies;
mod driver;
mod early_waits;
mod hostile;
mod last_words;
mod late_errors;
mod leaving;
mod lost_events;
mod mysql;
mod openings;
mod parts;
mod postgres;
mod random_timeline;
mod refusals;
mod rivals;
mod rows;
mod scheduler;
mod secrets;
mod server;
mod shapes;
mod stacks;
mod startups;
mod timeline;
mod walks;
