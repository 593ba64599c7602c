//! What a target says of servers that say nothing.

use super::PostgresTargetError;
use super::url_values::UrlValues;
use crate::socket::TcpKeepalive;

/// What Linux takes at the most (`MAX_TCP_KEEPIDLE` and its like): seconds, and questions.
const MAX_SECONDS: i32 = 32_767;
const MAX_QUESTIONS: i32 = 127;

/// What the kernel is to do about them. As for libpq, zero and less stand for the system's default.
pub(super) fn keepalive(given: &UrlValues) -> Result<TcpKeepalive, PostgresTargetError> {
    let seconds = "a number of seconds up to 32767";
    let milliseconds = "a number of milliseconds up to 2147483647";
    let positive = |name, most, allowed| -> Result<Option<u32>, PostgresTargetError> {
        let number = number(given, name, most, allowed)?;
        let positive = number.and_then(|number| u32::try_from(number).ok());
        Ok(positive.filter(|number| *number > 0))
    };
    Ok(TcpKeepalive {
        is_on: number(given, "keepalives", i32::MAX, "0 or 1")? != Some(0),
        idle_s: positive("keepalives_idle", MAX_SECONDS, seconds)?,
        interval_s: positive("keepalives_interval", MAX_SECONDS, seconds)?,
        count: positive("keepalives_count", MAX_QUESTIONS, "a number up to 127")?,
        user_timeout_ms: positive("tcp_user_timeout", i32::MAX, milliseconds)?,
    })
}

fn number(
    given: &UrlValues,
    name: &str,
    most: i32,
    allowed: &'static str,
) -> Result<Option<i32>, PostgresTargetError> {
    let Some(value) = given.get(name) else { return Ok(None) };
    let number = value.trim().parse::<i32>().ok().filter(|number| *number <= most);
    number.map(Some).ok_or_else(|| given.no_value(name, value, allowed))
}
