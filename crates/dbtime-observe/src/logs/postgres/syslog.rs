//! What syslog puts before a line: time, host, program with process, and the number of the message.

use crate::logs::numbers::whole;

/// How a line of syslog begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SyslogHead<'a> {
    /// When; empty for `Jan  2 03:04:05`, which names no year.
    pub(super) time: &'a [u8],
    /// The number of the process.
    pub(super) pid: &'a [u8],
    /// Whether the line goes on with the message of the line before.
    pub(super) is_continued: bool,
    /// Where the server's own text begins. Unit: bytes.
    pub(super) length: usize,
}

/// Reads `Jan  2 03:04:05 host postgres[123]: [5-1] `, with a time of RFC 3339 and words between as
/// well; `None`: the line begins otherwise.
pub(super) fn syslog_head(line: &[u8]) -> Option<SyslogHead<'_>> {
    let mut head = SyslogHead::default();
    let mut at = if is_named_month(line) {
        16
    } else {
        let end = memchr::memchr(b' ', line)?;
        let is_iso = end >= 19 && line[4] == b'-' && line[10] == b'T';
        head.time = is_iso.then_some(&line[..end])?;
        end + 1
    };
    // The host, and the program; other words are few.
    for _ in 0..4 {
        let length = memchr::memchr(b' ', &line[at..])?;
        let word = &line[at..at + length];
        at += length + 1;
        if let Some(named) = word.strip_suffix(b"]:") {
            let digits = named.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            head.pid = &named[named.len() - digits..];
            break;
        }
    }
    if head.pid.is_empty() {
        return None;
    }
    at = behind_blanks(line, at);
    let (part, behind) = message_part(line, at);
    at = behind_blanks(line, behind);
    let (is_tab, behind) = match &line[at..] {
        [b'\t', ..] => (true, at + 1),
        rest if rest.starts_with(b"#011") => (true, at + 4),
        _ => (false, at),
    };
    head.is_continued = is_tab || part > 1;
    head.length = behind;
    Some(head)
}

fn is_named_month(line: &[u8]) -> bool {
    line.len() > 16
        && line[..3].iter().all(u8::is_ascii_alphabetic)
        && [3, 6, 15].iter().all(|at| line[*at] == b' ')
        && [9, 12].iter().all(|at| line[*at] == b':')
}

fn behind_blanks(line: &[u8], at: usize) -> usize {
    at + line[at..].iter().take_while(|byte| **byte == b' ').count()
}

/// Which part of a message `[5-2]` is, behind a name in brackets perhaps, and where it ends; 0: no
/// number stands there.
fn message_part(line: &[u8], start: usize) -> (u64, usize) {
    let mut at = start;
    for _ in 0..2 {
        let Some(rest) = line[at..].strip_prefix(b"[") else { break };
        let Some(end) = memchr::memchr(b']', rest) else { break };
        let behind = at + end + 2;
        let mut numbers = rest[..end].splitn(2, |byte| *byte == b'-');
        let first = numbers.next().and_then(whole);
        let second = numbers.next().and_then(whole);
        if let (Some(_), Some(part)) = (first, second) {
            return (part, behind);
        }
        at = behind_blanks(line, behind);
    }
    (0, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_several_programs_are_read() {
        let head = |line: &'static str| {
            let head = syslog_head(line.as_bytes())?;
            let text = std::str::from_utf8(&line.as_bytes()[head.length..]).ok()?;
            Some((head.pid, head.is_continued, text))
        };
        let plain = head("Jan  2 03:04:05 db1 postgres[123]: [5-1] LOG:  x");
        assert_eq!(plain, Some((&b"123"[..], false, "LOG:  x")));
        let next = head("Jan  2 03:04:05 db1 postgres[123]: [5-2] #011FROM t");
        assert_eq!(next, Some((&b"123"[..], true, "FROM t")));
        let heroku = head(
            "2024-01-02T03:04:05+00:00 app[postgres.77]: [DATABASE] [5-1]  sql_error_code = 00000 \
             LOG:  x",
        );
        assert_eq!(heroku, Some((&b"77"[..], false, "sql_error_code = 00000 LOG:  x")));
        for other in ["", "Jan", "2024-01-02T03:04:05Z", "Jan  2 03:04:05 db1 kernel: x y z"] {
            assert_eq!(head(other), None, "{other}");
        }
    }
}
