//! A connection of somebody else has a lock that the run waits for: what it did, and what ends it.

use crate::advice::BudgetAdvice;
use crate::advice::case::AdviceCase;
use crate::facts::outside_connection;
use crate::format::{clean, us};
use dbtime_model::SqlDialect;
use dbtime_model::record::OutsideHolder;

/// A transaction whose client said nothing for this share of it was idle.
const IDLE_SHARE: f64 = 0.5;

/// Who has it, at which statement it let go, and what kept it.
pub(super) fn cause(outside: &OutsideHolder, statement: &str) -> String {
    let who = outside_connection(outside);
    format!("{who}, which is not part of this run, held the lock: {}", state(outside, statement))
}

/// What it did while it had the lock.
fn state(outside: &OutsideHolder, statement: &str) -> String {
    let gone = if outside.has_left { ", and its client has gone" } else { "" };
    let lengths = outside.transaction_us.zip(outside.idle_us);
    let Some((length, idle)) = lengths else {
        return format!("it executed {}{gone}", clean(statement));
    };
    let last = outside.last_statement.as_deref();
    let after = last.map_or(String::new(), |last| format!(" after {}", clean(last)));
    match idle >= IDLE_SHARE * length {
        true => {
            format!("idle in transaction{after}, for {} of {}{gone}", us(idle), us(length))
        }
        false => format!("its transaction took {}{after}{gone}", us(length)),
    }
}

/// How to have it let go sooner: that is up to its client, or to whoever may end it.
pub(super) fn steps(case: &AdviceCase<'_>, outside: &OutsideHolder, advice: &mut BudgetAdvice) {
    let who = outside_connection(outside);
    advice.step(format!("have the client of {who} commit sooner, or keep it away from the load"));
    let end = match (outside.server_id, case.dialect()) {
        (Some(id), Some(SqlDialect::Postgres)) => format!("SELECT pg_terminate_backend({id})"),
        (Some(id), Some(SqlDialect::Mysql)) => format!("KILL {id}"),
        _ => return advice.step("`dbtime top --login` during the load: it names who has the lock"),
    };
    advice.step_at_price(format!("end it: {end}"), "what it has not committed is undone");
}
