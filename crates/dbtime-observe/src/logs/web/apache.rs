//! Apache's `LogFormat`: <https://httpd.apache.org/docs/2.4/mod/mod_log_config.html#formats>.

use super::error::LogFormatError;
use super::field::{AccessField, FieldShape};
use super::format::FormatBuilder;
use super::time::TimePart;
use crate::logs::json_cursor::quote_at;
use dbtime_model::log_digest::TimeMeaning;

/// Reads a format string, with the backslashes that a configuration has, alone or as it stands
/// there.
pub(super) fn compile(text: &str) -> Result<FormatBuilder, LogFormatError> {
    let text = bare(text);
    let bytes = text.as_bytes();
    let mut builder = FormatBuilder::new(true);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'%', _) => {
                at = directive(text, at, &mut builder)?;
                continue;
            }
            (b'\\', Some(escaped)) => {
                builder.literal(match escaped {
                    b't' => b'\t',
                    b'n' => b'\n',
                    other => *other,
                });
                at += 1;
            }
            _ => builder.literal(*byte),
        }
        at += 1;
    }
    Ok(builder)
}

/// The format without the directive and the quotes around it: `LogFormat "%h \"%r\"" name`.
fn bare(text: &str) -> &str {
    let words = text.trim().split_once(char::is_whitespace);
    let directive = words.filter(|(word, _)| word.eq_ignore_ascii_case("LogFormat"));
    let rest = directive.map_or(text, |(_, rest)| rest.trim_start());
    let Some(quoted) = rest.strip_prefix('"') else { return rest };
    let Some(length) = quote_at(quoted.as_bytes()) else { return rest };
    let inner = &quoted[..length];
    // Quotes around a format have those within it escaped; others are of the format.
    let is_whole = length + 1 == quoted.len() && inner.contains("\\\"");
    if directive.is_some() || is_whole { inner } else { rest }
}

/// Reads the directive at a percent sign; where it ends.
fn directive(
    text: &str,
    start: usize,
    builder: &mut FormatBuilder,
) -> Result<usize, LogFormatError> {
    let unfinished = LogFormatError::Unfinished { at: start };
    let bytes = text.as_bytes();
    let mut at = start + 1;
    // Conditions (`%!200,304{…}i`), and which request of a redirected one is meant (`%>s`).
    while let Some(b'!' | b',' | b'<' | b'>' | b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    let mut argument = "";
    if bytes.get(at) == Some(&b'{') {
        let length = text[at..].find('}').ok_or_else(|| unfinished.clone())?;
        argument = &text[at + 1..at + length];
        at += length + 1;
    }
    let letter = *bytes.get(at).ok_or(unfinished)?;
    match letter {
        b'%' => builder.literal(b'%'),
        b't' => time(argument, start, builder)?,
        b'^' => {
            // `%{Name}^ti`: a line behind the header of the request or the answer.
            builder.field(AccessField::Skipped, start)?;
            return Ok((at + 3).min(text.len()));
        }
        _ => {
            let field =
                field(letter, argument).ok_or_else(|| LogFormatError::UnknownDirective {
                    directive: text[start..].split(' ').next().unwrap_or_default().to_owned(),
                    at: start,
                })?;
            builder.field(field, start)?;
        }
    }
    Ok(at + 1)
}

/// What a directive with this letter means; `None`: there is none.
fn field(letter: u8, argument: &str) -> Option<AccessField> {
    Some(match letter {
        b'r' => AccessField::Request,
        b'm' => AccessField::Method,
        b'U' => AccessField::Path,
        b'q' => AccessField::Query,
        b's' => AccessField::Status,
        b'b' | b'B' | b'O' => AccessField::Sent,
        b'I' => AccessField::Received,
        b'h' | b'a' => AccessField::Host,
        b'u' => AccessField::User,
        b'X' | b'c' => AccessField::KeepAlive,
        b'D' => AccessField::Duration(1_000),
        b'T' => AccessField::Duration(match argument {
            "" | "s" => 1_000_000_000,
            "ms" => 1_000_000,
            "us" => 1_000,
            _ => return None,
        }),
        b'P' => match argument {
            "" | "pid" => AccessField::Process,
            "tid" => AccessField::Thread,
            "hextid" => AccessField::Skipped,
            _ => return None,
        },
        b'i' if argument.eq_ignore_ascii_case("x-forwarded-for") => AccessField::Forwarded,
        b'v' | b'V' => AccessField::ServerName,
        b'A' | b'C' | b'H' | b'L' | b'R' | b'S' | b'e' | b'f' | b'i' | b'k' | b'l' | b'n'
        | b'o' | b'p' | b'x' => AccessField::Skipped,
        _ => return None,
    })
}

/// `%{…}t`: when the request arrived, unless it begins with `end:`.
fn time(argument: &str, at: usize, builder: &mut FormatBuilder) -> Result<(), LogFormatError> {
    let (meaning, form) = match argument.split_once(':') {
        Some(("end", form)) => (TimeMeaning::End, form),
        Some(("begin", form)) => (TimeMeaning::Start, form),
        _ => (TimeMeaning::Start, argument),
    };
    let part = match form {
        "" => {
            builder.literal(b'[');
            builder.time(TimePart::Local, meaning, at)?;
            builder.literal(b']');
            return Ok(());
        }
        "sec" => TimePart::Epoch(1_000_000_000),
        "msec" => TimePart::Epoch(1_000_000),
        "usec" => TimePart::Epoch(1_000),
        "msec_frac" => TimePart::Millis,
        "usec_frac" => TimePart::Micros,
        pattern => return strftime(pattern, meaning, at, builder),
    };
    builder.time(part, meaning, at)
}

/// The parts of a pattern of strftime(3).
fn strftime(
    pattern: &str,
    meaning: TimeMeaning,
    at: usize,
    builder: &mut FormatBuilder,
) -> Result<(), LogFormatError> {
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            let mut bytes = [0; 4];
            letter.encode_utf8(&mut bytes).bytes().for_each(|byte| builder.literal(byte));
            continue;
        }
        match letters.next().unwrap_or('%') {
            '%' => builder.literal(b'%'),
            'Z' => builder.shaped(AccessField::Skipped, FieldShape::Plain, at)?,
            letter => match (longer(letter), time_part(letter)) {
                (Some(pattern), _) => strftime(pattern, meaning, at, builder)?,
                (None, Some(part)) => builder.time(part, meaning, at)?,
                (None, None) => return Err(LogFormatError::TimePart { part: letter, at }),
            },
        }
    }
    Ok(())
}

/// The pattern for which a letter is short.
const fn longer(letter: char) -> Option<&'static str> {
    match letter {
        'T' => Some("%H:%M:%S"),
        'F' => Some("%Y-%m-%d"),
        'D' => Some("%m/%d/%y"),
        'R' => Some("%H:%M"),
        _ => None,
    }
}

/// The part that a letter is.
const fn time_part(letter: char) -> Option<TimePart> {
    Some(match letter {
        'Y' => TimePart::Year,
        'y' => TimePart::ShortYear,
        'm' => TimePart::Month,
        'b' | 'h' => TimePart::MonthName,
        'd' | 'e' => TimePart::Day,
        'a' => TimePart::Weekday,
        'H' => TimePart::Hour,
        'M' => TimePart::Minute,
        'S' => TimePart::Second,
        'z' => TimePart::Zone,
        's' => TimePart::Epoch(1_000_000_000),
        _ => return None,
    })
}
