//! The rules, one file each.

mod cpu_limit;
mod cpu_queue;
mod driver_delay;
mod elsewhere;
mod file_reads;
mod foreign_cpu;
mod latches;
mod lock_waits;
mod log_sync;
mod network;
mod outside_holder;
mod page_writes;
mod pauses;
mod pool_queue;
mod retries;
mod round_trips;
mod server_cpu;
mod stopped;
mod untraced;

use super::AdviceRule;

/// Every rule. A part of the budget goes to the first that wants it.
pub const RULES: &[AdviceRule] = &[
    foreign_cpu::RULE,
    pool_queue::RULE,
    driver_delay::RULE,
    pauses::RULE,
    retries::RULE,
    round_trips::RULE,
    untraced::RULE,
    server_cpu::RULE,
    cpu_queue::RULE,
    cpu_limit::RULE,
    stopped::RULE,
    lock_waits::RULE,
    file_reads::RULE,
    page_writes::RULE,
    log_sync::RULE,
    network::RULE,
    elsewhere::RULE,
];
