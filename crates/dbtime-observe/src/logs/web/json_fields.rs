//! Which keys of JSON mean what.

use super::error::LogFormatError;

/// A second. Unit: nanoseconds.
pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// Objects with such keys in them, by their paths.
const OPENED: [&[u8]; 15] = [
    b"request",
    b"req",
    b"http",
    b"http.request",
    b"http.response",
    b"httpRequest",
    b"response",
    b"res",
    b"url",
    b"event",
    b"client",
    b"source",
    b"user",
    b"fields",
    b"log",
];

/// What the value of a key is. Times are in units of so many nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonField {
    Time,
    Start,
    Duration(u64),
    /// A duration whose unit other keys show; seconds without them.
    BareDuration,
    /// What shows the unit of a bare duration.
    BareUnit(u64),
    Upstream(u64),
    Method,
    Path,
    Query,
    Request,
    Status,
    User,
    Host,
    Session,
    Process,
    Sent,
    Received,
}

/// Which keys have what a digest needs: those of Caddy, Traefik, nginx, Elastic's and Google's
/// schemas and of common libraries, unless a mapping names others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonFields {
    /// Paths of keys, divided by points, and what they are; empty: by their names.
    own: Vec<(Vec<u8>, JsonField)>,
}

impl JsonFields {
    /// Reads a mapping: `time=ts,duration=took:ms,path=request.uri`, where points lead into
    /// objects. Errors: a part is no field.
    pub(crate) fn parse(text: &str) -> Result<Self, LogFormatError> {
        let part = |part: &str| {
            let field = part.trim().split_once('=').and_then(|(name, key)| own_field(name, key));
            field.ok_or_else(|| LogFormatError::JsonField(part.trim().to_owned()))
        };
        Ok(Self { own: text.split(',').map(part).collect::<Result<_, _>>()? })
    }

    /// What the key at the end of a path is.
    pub(super) fn field(&self, path: &[u8]) -> Option<JsonField> {
        if self.own.is_empty() {
            // What a library puts everything into changes no key's meaning.
            let inner = path.strip_prefix(b"fields.").or_else(|| path.strip_prefix(b"log."));
            let path = inner.unwrap_or(path);
            let other = || answer_field(path).or_else(|| known_duration(path));
            return request_field(path).or_else(other);
        }
        self.own.iter().find(|(own, _)| own == path).map(|(_, field)| *field)
    }

    /// Whether an object may have such keys in it.
    pub(super) fn leads_on(&self, path: &[u8]) -> bool {
        if self.own.is_empty() {
            return OPENED.contains(&path);
        }
        self.own
            .iter()
            .any(|(own, _)| own.strip_prefix(path).is_some_and(|rest| rest.starts_with(b".")))
    }
}

fn own_field(name: &str, key: &str) -> Option<(Vec<u8>, JsonField)> {
    let (path, unit) = key.rsplit_once(':').unwrap_or((key, ""));
    let field = match name {
        "duration" => JsonField::Duration(match unit {
            "" | "s" => SECOND_NS,
            "ms" => 1_000_000,
            "us" => 1_000,
            "ns" => 1,
            _ => return None,
        }),
        _ if !unit.is_empty() => return None,
        "time" => JsonField::Time,
        "start" => JsonField::Start,
        "method" => JsonField::Method,
        "path" => JsonField::Path,
        "request" => JsonField::Request,
        "status" => JsonField::Status,
        "user" => JsonField::User,
        "host" => JsonField::Host,
        "session" => JsonField::Session,
        _ => return None,
    };
    (!path.is_empty()).then(|| (path.as_bytes().to_vec(), field))
}

/// What a key has of the request: when, what, who and from where.
fn request_field(path: &[u8]) -> Option<JsonField> {
    Some(match path {
        b"time" | b"ts" | b"timestamp" | b"@timestamp" | b"time_iso8601" | b"time_local"
        | b"msec" | b"datetime" => JsonField::Time,
        b"StartUTC" | b"start_time" => JsonField::Start,
        b"method"
        | b"request.method"
        | b"request_method"
        | b"requestMethod"
        | b"RequestMethod"
        | b"http.request.method"
        | b"http_method"
        | b"http.method"
        | b"verb"
        | b"httpRequest.requestMethod"
        | b"req.method" => JsonField::Method,
        b"path"
        | b"uri"
        | b"url"
        | b"request_uri"
        | b"RequestPath"
        | b"request.uri"
        | b"request.url"
        | b"request.path"
        | b"url.path"
        | b"url.original"
        | b"http.path"
        | b"http.url"
        | b"http_path"
        | b"req.url"
        | b"httpRequest.requestUrl" => JsonField::Path,
        b"args" | b"query_string" | b"url.query" => JsonField::Query,
        b"request" | b"request_line" => JsonField::Request,
        b"user" | b"user_id" | b"remote_user" | b"ClientUsername" | b"user.name" | b"user.id"
        | b"username" => JsonField::User,
        b"remote_ip"
        | b"remote_addr"
        | b"client_ip"
        | b"client"
        | b"request.remote_ip"
        | b"ClientHost"
        | b"client.ip"
        | b"source.ip"
        | b"ip"
        | b"httpRequest.remoteIp" => JsonField::Host,
        b"session" | b"session_id" | b"connection" => JsonField::Session,
        b"pid" => JsonField::Process,
        _ => return None,
    })
}

/// What a key has of the answer: its status, its size and the times that are there under names of
/// their own.
fn answer_field(path: &[u8]) -> Option<JsonField> {
    Some(match path {
        b"status"
        | b"response_code"
        | b"status_code"
        | b"statusCode"
        | b"res.statusCode"
        | b"response.status"
        | b"DownstreamStatus"
        | b"response.status_code"
        | b"response.statusCode"
        | b"http.response.status_code"
        | b"http_status"
        | b"http.status_code"
        | b"http.status"
        | b"httpRequest.status" => JsonField::Status,
        b"bytes"
        | b"bytes_sent"
        | b"body_bytes_sent"
        | b"size"
        | b"DownstreamContentSize"
        | b"bytes_out"
        | b"httpRequest.responseSize" => JsonField::Sent,
        b"request_length"
        | b"bytes_received"
        | b"bytes_read"
        | b"bytes_in"
        | b"RequestContentSize"
        | b"httpRequest.requestSize" => JsonField::Received,
        b"upstream_response_time" => JsonField::Upstream(SECOND_NS),
        b"upstream_service_time" => JsonField::Upstream(1_000_000),
        // Of Envoy and of Rails, which have milliseconds.
        b"response_flags" | b"controller" => JsonField::BareUnit(1_000_000),
        // Of Echo, which has nanoseconds.
        b"latency_human" => JsonField::BareUnit(1),
        b"OriginDuration" => JsonField::Upstream(1),
        b"Duration" | b"event.duration" => JsonField::Duration(1),
        // Of pino.
        b"responseTime" => JsonField::Duration(1_000_000),
        b"httpRequest.latency" => JsonField::Duration(SECOND_NS),
        _ => return None,
    })
}

/// A duration by its name, whose end may be its unit: `latency_ms`. What has none is bare, but for
/// `request_time`, which nginx has in seconds.
fn known_duration(path: &[u8]) -> Option<JsonField> {
    const NAMES: [&[u8]; 8] = [
        b"duration",
        b"latency",
        b"elapsed",
        b"request_time",
        b"response_time",
        b"time_taken",
        b"took",
        b"http.duration",
    ];
    const UNITS: [(&[u8], u64); 9] = [
        (b"_ms", 1_000_000),
        (b"_us", 1_000),
        (b"_ns", 1),
        (b"_s", SECOND_NS),
        (b"_sec", SECOND_NS),
        (b"_seconds", SECOND_NS),
        (b"_micros", 1_000),
        (b"_millis", 1_000_000),
        (b"Ms", 1_000_000),
    ];
    let own = UNITS.iter().find_map(|(end, unit)| Some((path.strip_suffix(*end)?, *unit)));
    let field = match own {
        Some((_, unit_ns)) => JsonField::Duration(unit_ns),
        None if path == b"request_time" => JsonField::Duration(SECOND_NS),
        None => JsonField::BareDuration,
    };
    let name = own.map_or(path, |(name, _)| name);
    NAMES.contains(&name).then_some(field)
}
