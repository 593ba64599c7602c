//! What is read of each format, whole and in parts.

use super::{AccessFormat, AccessLog, JsonFields, JsonLines, LogFormatError, RouteNamer};
use crate::logs::{BorderState, JoinedRecord, LogReader, RecordBatch, RecordSink};
use dbtime_model::log_digest::{ClassKind, TimeMeaning, UnreadReason};

/// 10 October 2000, 20:55:36 UTC. Unit: microseconds.
const AT_US: i64 = 971_211_336_000_000;

const COMMON: &str =
    r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a/1?b=2 HTTP/1.0" 200 23"#;

/// What an ingress of Kubernetes has behind the fields of all nginx.
const INGRESS: &str =
    " 120 0.020 [web-80] [] 10.0.0.2:80, 10.0.0.3:80 0, 23 0.004, 0.010 502, 200 5d1e";

/// Records in words, and what could not be read.
#[derive(Debug, Default, PartialEq)]
struct ReadLines {
    records: Vec<String>,
    unread: Vec<(UnreadReason, u64)>,
}

impl RecordSink for ReadLines {
    fn take(&mut self, record: &JoinedRecord<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut words = vec![format!("@{}", record.offset), record.class.to_owned()];
        let since = |at: Option<i64>| at.map_or(-1, |at| at - AT_US);
        words.push(format!("{}..{}us", since(record.start_us), since(record.end_us)));
        words.extend(record.duration.map(|duration| format!("took={}", duration.0)));
        for (name, value) in [
            ("user", record.user),
            ("host", record.host),
            ("database", record.database),
            ("error", record.error),
        ] {
            words.extend((!value.is_empty()).then(|| format!("{name}={}", text(value))));
        }
        words.extend((record.session != 0).then(|| format!("session={}", record.session)));
        words.extend(record.figures.iter().map(|(figure, n)| format!("{}={n}", figure.name())));
        words.extend((record.kind == ClassKind::Statement).then(|| "statement".to_owned()));
        self.records.push(words.join(" "));
    }

    fn count_event(&mut self, name: &str, _: Option<i64>) {
        panic!("no event: {name}");
    }

    fn count_unread(&mut self, why: UnreadReason, offset: u64) {
        self.unread.push((why, offset));
    }
}

/// Reads a log in blocks that begin at these bytes.
fn read_blocks(reader: &dyn LogReader, log: &[u8], starts: &[usize]) -> ReadLines {
    let (mut lines, mut joiner) = (ReadLines::default(), reader.joiner());
    let (mut batch, mut namer) = (RecordBatch::default(), RouteNamer::default());
    let mut header: &[u8] = &[];
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(log.len());
        let (block, offset) = (&log[*start..end], *start as u64);
        batch.clear();
        reader.read_below(header, block, &mut namer, &mut batch);
        header = Some(reader.header_in(block)).filter(|own| !own.is_empty()).unwrap_or(header);
        joiner.join(block, offset, &batch, &mut lines);
        let unread = batch.unread.iter().map(|(why, at)| (*why, offset + u64::from(*at)));
        lines.unread.extend(unread);
    }
    joiner.end(&mut lines);
    lines
}

/// Reads a log whole, having seen that every way to divide it gives the same.
fn read(reader: &dyn LogReader, log: impl AsRef<[u8]>) -> ReadLines {
    let log = log.as_ref();
    let whole = read_blocks(reader, log, &[0]);
    let mut starts = vec![log.len()];
    while let Some(start) = reader.last_start(&log[..starts[0]], BorderState::default()) {
        starts.insert(0, start);
    }
    starts.pop();
    starts.insert(0, 0);
    assert_eq!(read_blocks(reader, log, &starts), whole, "in single lines");
    for start in &starts {
        assert_eq!(read_blocks(reader, log, &[0, *start]), whole, "divided at {start}");
    }
    whole
}

fn access(format: &str) -> AccessLog {
    AccessLog::new(AccessFormat::parse(format).expect("a format"))
}

/// The only record of a line.
fn record(reader: &dyn LogReader, line: &str) -> String {
    let lines = read(reader, format!("{line}\n"));
    assert!(lines.unread.is_empty(), "{line}: {:?}", lines.unread);
    assert_eq!(lines.records.len(), 1, "{line}");
    lines.records[0].clone()
}

#[test]
fn each_preset_reads_its_lines() {
    let agents = r#" "http://x/\"y" "M \\""#;
    let common = "@0 GET /a/:n?b= 0..0us user=frank host=127.0.0.1 bytes_sent=23";
    assert_eq!(record(&access("common"), COMMON), common);
    assert_eq!(record(&access("combined"), &format!("{COMMON}{agents}")), common);
    assert_eq!(record(&access("nginx"), &format!("{COMMON}{agents}")), common);
    assert_eq!(record(&access("vhost_combined"), &format!("h:80 {COMMON}{agents}")), common);
    assert_eq!(
        record(&access("rscommon"), &format!("{COMMON} 4711 + 1500")),
        "@0 GET /a/:n?b= 0..1500us took=1500000 user=frank host=127.0.0.1 session=4711 \
         bytes_sent=23 kept_alive=1 aborted=0"
    );
    assert_eq!(
        record(&access("nginx_timed"), &format!("{COMMON}{agents} 0.020 0.004, 0.010 : 0.002")),
        "@0 GET /a/:n?b= -20000..0us took=20000000 user=frank host=127.0.0.1 \
         upstream_time=16000000 bytes_sent=23"
    );
    assert_eq!(
        record(&access("nginx_ingress"), &format!("{COMMON}{agents}{INGRESS}")),
        "@0 GET /a/:n?b= -20000..0us took=20000000 user=frank host=127.0.0.1 \
         upstream_time=14000000 bytes_sent=23 bytes_received=120"
    );
    assert_eq!(
        record(&access("traefik"), &format!(r#"{COMMON}{agents} 42 "r" "http://h" 21ms"#)),
        "@0 GET /a/:n?b= 0..21000us took=21000000 user=frank host=127.0.0.1 bytes_sent=23"
    );
    let alb = "https 2000-10-10T20:55:36.000000Z app/lb/1 10.0.0.1:2817 10.0.0.2:80 0.001 0.030 \
               0.002 502 - 34 366 \"GET https://me:secret@h:443/a/1 HTTP/2.0\" \"curl\" TLS - x";
    assert_eq!(
        record(&access("alb"), alb),
        "@0 GET /a/:n -33000..0us took=33000000 host=10.0.0.1 error=502 upstream_time=30000000 \
         bytes_sent=366 bytes_received=34"
    );
}

#[test]
fn directives_of_apache_are_read() {
    for (format, line, found) in [
        ("%m %U%s %{ms}T", "GET /a200 7", None),
        ("%m %U%q %{ms}T", "GET /a?b=1 7", Some("@0 GET /a?b= -1..-1us took=7000000")),
        ("%m %v%U", "GET h:80/a", Some("@0 GET /a -1..-1us")),
        ("%m %U %q %{ms}T", "GET /a ?b=1 7", Some("@0 GET /a?b= -1..-1us took=7000000")),
        ("%T/%D %U", "1/1500000 /a", Some("@0 /a -1..-1us took=1500000000")),
        ("%{us}T %U", "15 /a", Some("@0 /a -1..-1us took=15000")),
        ("%U %X", "/a X", Some("@0 /a -1..-1us kept_alive=0 aborted=1")),
        ("%U %X", "/a -", Some("@0 /a -1..-1us kept_alive=0 aborted=0")),
        ("%U %I %O %b", "/a 10 20 -", Some("@0 /a -1..-1us bytes_sent=0 bytes_received=10")),
        ("%!200,304{Referer}i %>s %U", "- 499 /a", Some("@0 /a -1..-1us error=499")),
        ("%s %>s %U", "404 200 /a", Some("@0 /a -1..-1us")),
        ("%>s %U", "- /a", Some("@0 /a -1..-1us")),
        (
            "%{X-Forwarded-For}i %h %U",
            "1.1.1.1, 2.2.2.2 ::1 /a",
            Some("@0 /a -1..-1us host=1.1.1.1"),
        ),
        (
            "%h %u %t %U",
            "::1 a b [10/Oct/2000:20:55:37 +0000] /a",
            Some("@0 /a 1000000..1000000us user=a b host=::1"),
        ),
        (
            "%{%Y-%m-%dT%T}t.%{usec_frac}t%{%z}t %U",
            "2000-10-10T22:55:36.000005+0200 /a",
            Some("@0 /a 5..5us"),
        ),
        ("%{%d/%b/%y %H:%M:%S}t %U", "10/Oct/00 20:55:36 /a", Some("@0 /a 0..0us")),
        ("%{end:usec}t %D %U", "971211336000000 7 /a", Some("@0 /a -7..0us took=7000")),
        ("%{sec}t.%{msec_frac}t %U", "971211336.001 /a", Some("@0 /a 1000..1000us")),
        (
            r#"%t\t\"%r\" %%"#,
            "[10/Oct/2000:20:55:36 +0000]\t\"GET / HTTP/1.1\" %",
            Some("@0 GET / 0..0us"),
        ),
    ] {
        let parsed = AccessFormat::parse(format);
        let Some(found) = found else {
            assert!(matches!(parsed, Err(LogFormatError::NoBorder { .. })), "{format}");
            continue;
        };
        let reader = AccessLog::new(parsed.expect(format));
        assert_eq!(record(&reader, line), found, "{format}");
    }
    let quoted = r#""%m \"%U\"""#;
    let directive = format!("LogFormat {quoted} own");
    for format in [quoted, directive.as_str()] {
        assert_eq!(record(&access(format), r#"GET "/a""#), "@0 GET /a -1..-1us", "{format}");
    }
    let unescaped = record(&access(r#""%r" "%{Referer}i""#), r#""GET /a HTTP/1.1" "x""#);
    assert_eq!(unescaped, "@0 GET /a -1..-1us");
    let threaded = record(&access("%{pid}P:%{tid}P %U"), "7:140234 /a");
    assert!(threaded.contains("session="), "{threaded}");
}

#[test]
fn variables_of_nginx_are_read() {
    for (format, line, found) in [
        (
            "$msec $request_method $uri $args",
            "971211336.000 GET /a b=1&c=2",
            "@0 GET /a?b=&c= 0..0us",
        ),
        (
            "$time_iso8601|$request_uri|$bytes_sent|$request_length",
            "2000-10-10T20:55:36+00:00|/a?b=1|5|6",
            "@0 /a?b= 0..0us bytes_sent=5 bytes_received=6",
        ),
        ("$uri$is_args$args $status", "/a?b=1 200", "@0 /a?b= -1..-1us"),
        ("$scheme://$host$request_uri;$status", "http://[::1]/a;500", "@0 /a -1..-1us error=500"),
        (
            "$scheme://$host$request_uri|$status",
            "http://-|400",
            "@0 (no request) -1..-1us error=400",
        ),
        (
            "${request_time}s $uri $connection",
            "0.004s /a 17",
            "@0 /a -1..-1us took=4000000 session=17",
        ),
        (
            "$upstream_response_time $upstream_addr $uri",
            "- 10.0.0.1:80, 10.0.0.2:80 : [::1]:80 /a",
            "@0 /a -1..-1us",
        ),
        (
            "log_format own escape=json '{\"t\":\"$time_iso8601\",'\n  '\"r\":\"$request\"}';",
            r#"{"t":"2000-10-10T20:55:36Z","r":"GET /\"a HTTP/1.1"}"#,
            r#"@0 GET /\"a 0..0us"#,
        ),
        ("escape=none \"$request\" \"$http_x\"", r#""GET /a HTTP/1.1" "a\""#, "@0 GET /a -1..-1us"),
    ] {
        assert_eq!(record(&access(format), line), found, "{format}");
    }
    let format = AccessFormat::parse("$uri $time_local").expect("a format");
    assert_eq!((format.time_meaning(), format.is_local_time()), (TimeMeaning::End, false));
    let format = AccessFormat::parse("%U %{%F %T}t").expect("a format");
    assert_eq!((format.time_meaning(), format.is_local_time()), (TimeMeaning::Start, true));
}

#[test]
fn a_format_that_cannot_be_read_is_refused_with_a_remedy() {
    for (format, cause) in [
        ("", "has no field"),
        ("%h %Y %r", "`%Y` at byte 3"),
        ("%h %{ms", "at byte 3 of the format is not finished"),
        ("%r %", "is not finished"),
        ("$uri ${status", "at byte 5 of the format is not finished"),
        ("%U%s", "at byte 2 of the format"),
        ("%h %>s", "has no request"),
        ("%U %{%c}t", "`%c` in the time at byte 3"),
        ("w3c", "`#Fields: …`"),
    ] {
        let error = AccessFormat::parse(format).expect_err(format).to_string();
        assert!(error.contains(cause), "{format}: {error}");
    }
}

#[test]
fn lines_of_w3c_are_read_by_their_header() {
    let log = "#Version: 1.0\r\n#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip \
               sc-status time-taken\r\n2000-10-10 20:55:36 GET /a/1 b=2 ::1 500 15\r\n\
               2000-10-10 20:55:36 GET /a - ::1 200 0.001\r\n";
    let format = AccessFormat::guess(log.as_bytes()).expect("a format");
    assert!(format.text().starts_with("#Fields: date time"), "{}", format.text());
    let lines = read(&AccessLog::new(format), log);
    assert!(lines.unread.is_empty(), "{:?}", lines.unread);
    assert_eq!(lines.records.len(), 2);
    let first = "GET /a/:n?b= -15000..0us took=15000000 host=::1 error=500";
    assert!(lines.records[0].ends_with(first), "{}", lines.records[0]);
    assert!(lines.records[1].ends_with("GET /a -1000..0us took=1000000 host=::1"));
}

#[test]
fn lines_of_w3c_are_read_by_the_header_above_them() {
    let first = "#Fields: date time cs-method cs-uri-stem sc-status\n";
    let log = format!(
        "{first}2000-10-10 20:55:36 GET /a 200\n#Date: 2000-10-10\n\
         #Fields: date time cs-uri-stem cs-method sc-status time-taken\n\
         2000-10-10 20:55:37 /b POST 404 15\n2000-10-10 20:55:38 /c GET 200 0.5\n\
         {first}2000-10-10 20:55:39 GET /d 200\n"
    );
    let format = AccessFormat::guess(log.as_bytes()).expect("a format");
    let lines = read(&AccessLog::new(format.clone()), &log);
    assert!(lines.unread.is_empty(), "{:?}", lines.unread);
    let ends = ["GET /a", "POST /b", "GET /c", "GET /d"];
    assert_eq!(lines.records.len(), ends.len());
    for (record, class) in lines.records.iter().zip(ends) {
        assert!(record.contains(&format!(" {class} ")), "{class}: {record}");
    }
    assert!(lines.records[2].contains("took=500000000"), "{:?}", lines.records);
    let odd = log.replace("cs-uri-stem cs-method sc-status time-taken", "sc-status");
    let lines = read(&AccessLog::new(format), odd);
    assert_eq!((lines.records.len(), lines.unread.len()), (2, 2));
}

#[test]
fn the_preset_of_a_file_is_found() {
    let agents = r#" "-" "-""#;
    for (name, line) in [
        ("common", COMMON.to_owned()),
        ("combined", format!("{COMMON}{agents}")),
        ("vhost_combined", format!("h:80 {COMMON}{agents}")),
        ("nginx_timed", format!("{COMMON}{agents} 0.020 -")),
        ("nginx_request_time", format!("{COMMON}{agents} 0.020")),
        ("rscommon", format!("{COMMON} 4711 - 1500")),
        ("traefik", format!(r#"{COMMON}{agents} 42 "r@docker" "http://10.0.0.2:80" 21ms"#)),
        ("nginx_ingress", format!("{COMMON}{agents}{INGRESS}")),
    ] {
        let head = format!("{line}\n").repeat(9) + "rubbish\ncut";
        let format = AccessFormat::guess(head.as_bytes());
        assert_eq!(format.as_ref().map(AccessFormat::text), Some(name));
        assert!(AccessLog::looks_like(head.as_bytes()) && !JsonLines::looks_like(head.as_bytes()));
        assert_eq!(AccessFormat::guess(format!("{head}\nrubbish\n").as_bytes()), None);
    }
    let unclear = format!("{COMMON}{agents} 1500\n");
    assert_eq!(AccessFormat::guess(unclear.as_bytes()), None, "seconds or microseconds");
    for other in ["", "\n\n", "# Time: 2021-10-12T01:13:38.132884Z\n", "{\"a\":1}\n"] {
        assert!(!AccessLog::looks_like(other.as_bytes()), "{other}");
        assert!(!JsonLines::looks_like(other.as_bytes()), "{other}");
    }
}

#[test]
fn hostile_lines_are_counted_and_nothing_else() {
    let reader = access("rscommon");
    let good = format!("{COMMON} 4711 + 1500");
    let number = "9".repeat(30);
    for (line, why) in [
        (good.replace("HTTP/1.0\"", "HTTP/1.0"), UnreadReason::Form),
        ("x".repeat(1 << 20), UnreadReason::Form),
        (format!("{}\"", "\\".repeat(1 << 20)), UnreadReason::Form),
        ("\0".repeat(100), UnreadReason::Form),
        (good.replace(" 200 ", " 2x0 "), UnreadReason::Number),
        (good.replace("1500", &number), UnreadReason::Number),
        (good.replace("4711", &number), UnreadReason::Number),
        (good.replace("1500", "-1500"), UnreadReason::Number),
        (good.replace("/2000:", "/0000:"), UnreadReason::Time),
        (good.replace(":55:", ":75:"), UnreadReason::Time),
        (format!("{good} more"), UnreadReason::Number),
    ] {
        let lines = read(&reader, format!("{good}\n{line}\n{good}\n"));
        let at = good.len() as u64 + 1;
        assert_eq!((lines.records.len(), lines.unread), (2, vec![(why, at)]));
    }
    let lines = read(&reader, format!("\n\r\n{good}\r\n{good}"));
    assert_eq!((lines.records.len(), lines.unread.len()), (2, 0));
    let lines = read(&reader, format!("{good}\n{}", &good[..40]));
    assert_eq!(lines.unread, [(UnreadReason::Incomplete, good.len() as u64 + 1)]);
    let status = record(&reader, &good.replace(" 200 ", " - "));
    assert!(!status.contains("error="), "{status}");
    let empty = record(&reader, &good.replace("GET /a/1?b=2 HTTP/1.0", "-"));
    assert!(empty.contains("(no request)"), "{empty}");
}

#[test]
fn each_kind_of_json_is_read() {
    for (line, found) in [
        (
            r#"{"ts":971211336.5,"msg":"handled request","request":{"remote_ip":"::1","method":"GET","uri":"/a/1?b=2","headers":{"X":["}"]}},"bytes_read":0,"user_id":"","duration":0.5,"size":9,"status":404}"#,
            "@0 GET /a/:n?b= 0..500000us took=500000000 host=::1 error=404 bytes_sent=9 \
             bytes_received=0",
        ),
        (
            r#"{"ClientHost":"::1","ClientUsername":"-","DownstreamStatus":200,"Duration":7000,"OriginDuration":5000,"RequestMethod":"GET","RequestPath":"/a?b=1\u0026c=2","StartUTC":"2000-10-10T20:55:36Z","time":"2000-10-10T20:59:59Z"}"#,
            "@0 GET /a?b=&c= 0..7us took=7000 host=::1 upstream_time=5000",
        ),
        (
            r#"{"time_local":"10/Oct/2000:20:55:36 +0000","request":"GET /a HTTP/1.1","status":"200","request_time":"0.001","upstream_response_time":"0.001, 0.002","remote_addr":"::1"}"#,
            "@0 GET /a -1000..0us took=1000000 host=::1 upstream_time=3000000",
        ),
        (
            r#"{"@timestamp":"2000-10-10T20:55:36.000Z","http":{"request":{"method":"GET"},"response":{"status_code":500}},"url":{"path":"/a"},"event":{"duration":1000}}"#,
            "@0 GET /a -1..0us took=1000 error=500",
        ),
        (
            r#"{"method":"GET","path":"/a","latency_ms":1.5,"status":"ok"}"#,
            "@0 GET /a -1..-1us took=1500000",
        ),
        (
            r#"{"start_time":"2000-10-10T20:55:36Z","method":"GET","path":"/a","response_code":503,"duration":15,"response_flags":"-","upstream_service_time":"14"}"#,
            "@0 GET /a 0..15000us took=15000000 error=503 upstream_time=14000000",
        ),
        (
            r#"{"method":"GET","uri":"/a","latency":35421,"latency_human":"35.421µs"}"#,
            "@0 GET /a -1..-1us took=35421",
        ),
        (
            r#"{"method":"GET","url":"/a","duration":"12.5µs","session_id":17}"#,
            "@0 GET /a -1..-1us took=12500 session=17",
        ),
    ] {
        let log = format!("{line}\n");
        let reader = JsonLines::detect(log.as_bytes()).expect(line);
        assert_eq!(record(&reader, line), found);
    }
}

#[test]
fn requests_among_other_objects_are_found_and_those_are_counted() {
    let (request, other) = (r#"{"method":"GET","uri":"/a"}"#, r#"{"msg":"renewed"}"#);
    let log = format!("{other}\n{request}\n{other}\n{other}\n");
    let reader = JsonLines::detect(log.as_bytes()).expect("requests");
    let lines = read(&reader, &log);
    assert_eq!((lines.records.len(), lines.unread.len()), (1, 3));
    let sparse = format!("{request}\n{}", format!("{other}\n").repeat(10));
    assert!(!JsonLines::looks_like(sparse.as_bytes()));
    assert!(!JsonLines::looks_like(format!("{request}\nno object\n").as_bytes()));
}

#[test]
fn times_of_json_without_a_zone_are_the_servers_own() {
    for (time, is_local) in [
        ("\"2000-10-10 20:55:36,123\"", true),
        ("\"2000-10-10T20:55:36Z\"", false),
        ("\"10/Oct/2000:13:55:36 -0700\"", false),
        ("971211336", false),
    ] {
        let line = format!("{{\"path\":\"/a\",\"time\":{time}}}\n");
        let reader = JsonLines::detect(line.as_bytes()).expect("requests");
        assert_eq!(reader.has_local_time(line.as_bytes()), is_local, "{time}");
    }
}

#[test]
fn a_request_that_is_empty_is_counted_as_one() {
    let line = r#"{"time_local":"10/Oct/2000:20:55:36 +0000","request":"","status":400,"bytes":9}"#;
    let expected = "@0 (no request) 0..0us error=400 bytes_sent=9";
    assert_eq!(record(&JsonLines::default(), line), expected);
    let line = line.replace(r#""request":"""#, r#""method":"-","path":"-""#);
    assert_eq!(record(&JsonLines::default(), &line), expected);
}

#[test]
fn a_mapping_names_other_keys() {
    let fields = JsonFields::parse("path=a.b, duration=took:us,status=code").expect("a mapping");
    assert_eq!(
        record(&JsonLines::new(fields), r#"{"a":{"b":"/x","path":"/no"},"took":3,"code":503}"#),
        "@0 /x -1..-1us took=3000 error=503"
    );
    for wrong in ["", "path", "path=", "size=x", "duration=x:h", "path=x:ms"] {
        let error = JsonFields::parse(wrong).expect_err(wrong).to_string();
        assert!(error.contains("NAME=KEY"), "{error}");
    }
}

#[test]
fn spans_of_opentelemetry_are_read_each_by_itself() {
    let span = |name: &str, attributes: &str, more: &str| {
        format!(
            r#"{{"traceId":"5b8efff798038103d269b633813fc60c","name":"{name}","startTimeUnixNano":"971211336000000000","endTimeUnixNano":971211336000009000,"attributes":[{attributes}]{more}}}"#
        )
    };
    let pair = |key: &str, value: &str| format!(r#"{{"key":"{key}","value":{{{value}}}}}"#);
    let request = [
        pair("http.request.method", r#""stringValue":"GET""#),
        pair("url.path", r#""stringValue":"/users/42""#),
        pair("http.response.status_code", r#""intValue":"500""#),
    ];
    let statement = [
        pair("db.system", r#""stringValue":"postgresql""#),
        pair("db.name", r#""stringValue":"shop""#),
        pair("db.statement", r#""stringValue":"SELECT * FROM t WHERE a = 'secret'""#),
    ];
    let spans = [
        span("GET", &request.join(","), ""),
        span("SELECT shop.t", &statement.join(","), ""),
        span("work", "", r#","status":{"code":2}"#),
    ];
    let log = format!(
        "{{\"resourceSpans\":[{{\"resource\":{{}},\"scopeSpans\":[{{\"scope\":{{}},\"spans\":[{}]}}]}}]}}\n",
        spans.join(",")
    );
    assert!(JsonLines::looks_like(log.as_bytes()));
    let lines = read(&JsonLines::default(), &log);
    assert_eq!((lines.records.len(), lines.unread), (3, vec![]));
    assert!(lines.records[0].contains("GET /users/:n 0..9us took=9000 error=500 session="));
    assert!(lines.records[1].contains("database=shop") && lines.records[1].ends_with("statement"));
    assert!(!lines.records[1].contains("secret"), "{}", lines.records[1]);
    assert!(lines.records[2].contains(" work 0..9us took=9000 error=ERROR"));
}

#[test]
fn hostile_json_is_counted_and_nothing_else() {
    let good = r#"{"method":"GET","path":"/a","duration":1}"#;
    let deep = "[".repeat(1 << 20);
    let cut = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a"},{"name":1]}]}]}"#;
    for (line, why) in [
        ("x", UnreadReason::Form),
        ("{}", UnreadReason::Form),
        (r#"{"message":"no request"}"#, UnreadReason::Form),
        (r#"{"path":"/a"} {"path":"/a"}"#, UnreadReason::Form),
        (r#"{"path":"/a""#, UnreadReason::Incomplete),
        (deep.as_str(), UnreadReason::Form),
        (r#"{"path":"/a","duration":-1}"#, UnreadReason::Number),
        (r#"{"path":"/a","duration":99999999999999999999999999999}"#, UnreadReason::Number),
        (r#"{"path":"/a","time":"0000-00-00 00:00:00"}"#, UnreadReason::Time),
        (cut, UnreadReason::Form),
    ] {
        let lines = read(&JsonLines::default(), format!("{good}\n{line}\n{good}\n"));
        let at = good.len() as u64 + 1;
        assert_eq!((lines.records.len(), lines.unread), (2, vec![(why, at)]));
    }
    let deep = format!("{{\"path\":\"/a\",\"x\":{}{}}}", "[".repeat(9999), "]".repeat(9999));
    assert_eq!(record(&JsonLines::default(), &deep), "@0 /a -1..-1us");
}
