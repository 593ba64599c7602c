//! MySQL's protocol, against servers that break it or are after the password: each is the test's.
//! Some keep to it.

mod behaviours;
mod greetings;
mod keys;
mod packets;
mod plugins;
mod rogue;
mod sessions;
mod statements;
