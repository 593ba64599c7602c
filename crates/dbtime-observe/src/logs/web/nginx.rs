//! nginx's `log_format`: <https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format>.

use super::error::LogFormatError;
use super::field::{AccessField, FieldShape};
use super::format::FormatBuilder;
use super::time::TimePart;
use dbtime_model::log_digest::TimeMeaning;
use std::borrow::Cow;

/// How values are escaped, and whether a quote within quotes gets a backslash or a code.
const ESCAPES: [(&str, bool); 3] =
    [("escape=default", true), ("escape=json", true), ("escape=none", false)];

/// Reads a format string, alone or as it stands in a configuration.
pub(super) fn compile(text: &str) -> Result<FormatBuilder, LogFormatError> {
    let (text, has_escapes) = bare(text);
    let bytes = text.as_bytes();
    let mut builder = FormatBuilder::new(has_escapes);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'$' {
            builder.literal(*byte);
            at += 1;
            continue;
        }
        let is_braced = bytes.get(at + 1) == Some(&b'{');
        let begin = at + 1 + usize::from(is_braced);
        let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let end = begin + bytes.iter().skip(begin).take_while(is_of_name).count();
        if is_braced && bytes.get(end) != Some(&b'}') {
            return Err(LogFormatError::Unfinished { at });
        }
        add(text.get(begin..end).unwrap_or_default(), at, &mut builder)?;
        at = end + usize::from(is_braced);
    }
    Ok(builder)
}

/// The format without the directive around it, joined from its quoted pieces, and whether quotes
/// within quotes are escaped.
fn bare(text: &str) -> (Cow<'_, str>, bool) {
    let mut rest = text.trim();
    if let Some(directive) = rest.strip_prefix("log_format ") {
        let named = directive.trim_start();
        rest = named.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start();
        rest = rest.strip_suffix(';').unwrap_or(rest).trim_end();
    }
    let mut has_escapes = true;
    for (word, is_escaping) in ESCAPES {
        if let Some(behind) = rest.strip_prefix(word) {
            (rest, has_escapes) = (behind.trim_start(), is_escaping);
        }
    }
    let is_quoted = rest.len() > 1 && rest.starts_with('\'') && rest.ends_with('\'');
    if !is_quoted {
        return (Cow::Borrowed(rest), has_escapes);
    }
    // What stands between the pieces is not of the format.
    (Cow::Owned(rest.split('\'').skip(1).step_by(2).collect()), has_escapes)
}

/// Adds a variable. Those that a server defines itself cannot be known, and are passed over.
fn add(name: &str, at: usize, builder: &mut FormatBuilder) -> Result<(), LogFormatError> {
    let field = match name {
        "time_local" => return builder.time(TimePart::Local, TimeMeaning::End, at),
        "time_iso8601" => return builder.time(TimePart::Iso, TimeMeaning::End, at),
        "msec" => return builder.time(TimePart::Epoch(1_000_000_000), TimeMeaning::End, at),
        "request" => AccessField::Request,
        "request_method" => AccessField::Method,
        "uri" | "document_uri" | "request_uri" => AccessField::Path,
        "args" | "query_string" | "is_args" => AccessField::Query,
        "host" | "http_host" | "server_name" => AccessField::ServerName,
        "status" => AccessField::Status,
        "body_bytes_sent" | "bytes_sent" => AccessField::Sent,
        "request_length" => AccessField::Received,
        "request_time" => AccessField::PointedTime,
        "upstream_response_time" => AccessField::Upstream,
        "remote_addr" => AccessField::Host,
        "remote_user" => AccessField::User,
        "pid" => AccessField::Process,
        "connection" => AccessField::Connection,
        "http_x_forwarded_for" | "proxy_add_x_forwarded_for" => AccessField::Forwarded,
        // Of the preset for AWS.
        "alb_client" => AccessField::HostPort,
        "alb_time" => AccessField::AddedTime,
        "alb_target_time" => AccessField::AddedUpstream,
        "alb_rest" => return builder.shaped(AccessField::Skipped, FieldShape::Rest, at),
        _ if name.starts_with("upstream_") => {
            return builder.shaped(AccessField::Skipped, FieldShape::List, at);
        }
        _ => AccessField::Skipped,
    };
    builder.field(field, at)
}
