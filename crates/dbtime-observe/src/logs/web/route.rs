//! The class of a request: its method, and its path without what differs from user to user.

use super::error::LogFormatError;
use super::template::{push_template, push_text};
use crate::logs::ClassNamer;
use memchr::{memchr, memrchr};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;

/// The class of what is no request: rubbish, TLS on a port without TLS, a connection that was
/// closed before it had one.
const NO_REQUEST: &str = "(no request)";

/// Longer requests are cut, and so are names. Unit: bytes.
const MAX_BYTES: usize = 4096;

/// Names requests by method and path: `GET /user/:n?page=&sort=`. Routes of a user come first.
#[derive(Clone, Debug, Default)]
pub struct RouteNamer {
    routes: Vec<(Regex, String)>,
    keys: Vec<Range<usize>>,
}

impl RouteNamer {
    /// One with routes: a regular expression, which is looked for in `METHOD TARGET` and in the
    /// path with its query alone, so that `^/shop/` is found too, and the name of what it finds.
    /// The first that is found counts.
    ///
    /// # Errors
    /// An expression is none.
    pub fn new(routes: &[(String, String)]) -> Result<Self, LogFormatError> {
        let compile = |(regex, name): &(String, String)| {
            // Requests are bytes; classes of characters are those of ASCII.
            let compiled = RegexBuilder::new(regex).unicode(false).build();
            compiled.map(|compiled| (compiled, name.clone())).map_err(|error| {
                LogFormatError::RouteRegex { regex: regex.clone(), why: error.to_string() }
            })
        };
        let routes = routes.iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { routes, keys: Vec::new() })
    }

    /// Divides a route as users write it: `REGEX=NAME`. Errors: it has no name or no expression.
    pub fn parse_route(text: &str) -> Result<(String, String), LogFormatError> {
        match text.rsplit_once('=') {
            Some((regex, name)) if !regex.is_empty() && !name.trim().is_empty() => {
                Ok((regex.to_owned(), name.trim().to_owned()))
            }
            _ => Err(LogFormatError::RouteForm(text.to_owned())),
        }
    }

    /// The keys of a query, sorted, each once.
    fn push_query(&mut self, query: &[u8], out: &mut String) {
        self.keys.clear();
        let mut at = 0;
        for pair in query.split(|byte| matches!(byte, b'&' | b';')) {
            let length = memchr(b'=', pair).map_or(pair.len(), |equals| equals + 1);
            if length > 0 {
                self.keys.push(at..at + length);
            }
            at += pair.len() + 1;
        }
        self.keys.sort_unstable_by(|a, b| query[a.clone()].cmp(&query[b.clone()]));
        self.keys.dedup_by(|a, b| query[a.clone()] == query[b.clone()]);
        for (index, key) in self.keys.iter().enumerate() {
            out.push(if index == 0 { '?' } else { '&' });
            let key = &query[key.clone()];
            let name = key.strip_suffix(b"=").unwrap_or(key);
            push_template(name, out);
            if name.len() < key.len() {
                out.push('=');
            }
        }
    }
}

impl ClassNamer for RouteNamer {
    fn name(&mut self, text: &[u8], out: &mut String) {
        out.clear();
        let text = without_protocol(&text[..text.len().min(MAX_BYTES)]);
        let Some((method, target)) = method_and_target(text) else {
            out.push_str(NO_REQUEST);
            return;
        };
        let path = without_authority(target);
        let mut found = self.routes.iter();
        let found = found.find(|(regex, _)| regex.is_match(text) || regex.is_match(path));
        if let Some((_, name)) = found {
            out.push_str(name);
            return;
        }
        if !method.is_empty() {
            push_text(method, out);
            out.push(' ');
        }
        if method == b"CONNECT" {
            out.push_str(":host");
            return;
        }
        let target = &path[..memchr(b'#', path).unwrap_or(path.len())];
        let path_length = memchr(b'?', target).unwrap_or(target.len());
        push_path(&target[..path_length], out);
        self.push_query(target.get(path_length + 1..).unwrap_or_default(), out);
        let mut end = out.len().min(MAX_BYTES);
        while !out.is_char_boundary(end) {
            end -= 1;
        }
        out.truncate(end);
    }
}

/// `GET /` of `GET / HTTP/1.1`.
fn without_protocol(text: &[u8]) -> &[u8] {
    match memrchr(b' ', text) {
        Some(at) if text[at..].starts_with(b" HTTP/") => &text[..at],
        _ => text,
    }
}

/// Method and target; the method is empty where the log has none. `None`: it is no request.
fn method_and_target(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if text.iter().any(u8::is_ascii_control) {
        return None;
    }
    if is_target(text) {
        return Some(text.split_at(0));
    }
    let (method, target) = text.split_at(memchr(b' ', text)?);
    let target = &target[1..];
    let is_method = (1..=32).contains(&method.len())
        && method.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'));
    let has_target = is_target(target) || target == b"*" || method == b"CONNECT";
    (is_method && has_target).then_some((method, target))
}

/// Whether it is a path or a whole URL.
fn is_target(text: &[u8]) -> bool {
    text.starts_with(b"/") || authority_at(text).is_some()
}

/// Where the authority of a whole URL begins, which may hold a password.
fn authority_at(text: &[u8]) -> Option<usize> {
    let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    (length > 0 && text[length..].starts_with(b"://")).then_some(length + 3)
}

/// What follows the authority.
fn without_authority(target: &[u8]) -> &[u8] {
    let Some(begin) = authority_at(target) else {
        return target;
    };
    let rest = &target[begin..];
    match rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')) {
        Some(length) => &rest[length..],
        None => b"/",
    }
}

fn push_path(path: &[u8], out: &mut String) {
    for (index, segment) in path.split(|byte| *byte == b'/').enumerate() {
        if index > 0 {
            out.push('/');
        }
        let length = memchr(b';', segment).unwrap_or(segment.len());
        push_template(&segment[..length], out);
        // `;jsessionid=…`
        if let Some(parameter) = segment.get(length + 1..) {
            out.push(';');
            let name = memchr(b'=', parameter).unwrap_or(parameter.len());
            push_template(&parameter[..name], out);
            if name < parameter.len() {
                out.push('=');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, routes: &[(&str, &str)]) -> String {
        let owned = |(regex, name): &(&str, &str)| ((*regex).to_owned(), (*name).to_owned());
        let routes: Vec<_> = routes.iter().map(owned).collect();
        let mut out = String::from("before");
        RouteNamer::new(&routes).expect("routes").name(text.as_bytes(), &mut out);
        out
    }

    #[test]
    fn what_differs_from_user_to_user_is_left_out() {
        for (text, class) in [
            ("GET / HTTP/1.1", "GET /"),
            ("GET /users/42/posts/7.json HTTP/1.1", "GET /users/:n/posts/:n.json"),
            ("GET /v1/a HTTP/1.1", "GET /v1/a"),
            ("GET /d/2024-01-15 HTTP/2.0", "GET /d/:n"),
            ("PUT /o/550e8400-e29b-41d4-a716-446655440000 HTTP/1.1", "PUT /o/:uuid"),
            ("GET /c/deadbeef HTTP/1.1", "GET /c/deadbeef"),
            ("GET /c/deadbee7 HTTP/1.1", "GET /c/:hex"),
            ("GET /t/dGhpcyBpcyBhIHRva2Vu1Q== HTTP/1.1", "GET /t/:token"),
            ("GET /s/app.1008f4.js HTTP/1.1", "GET /s/app.:hex.js"),
            ("GET /a?sort=up&page=3&page=4 HTTP/1.1", "GET /a?page=&sort="),
            ("GET /a?1700000000 HTTP/1.1", "GET /a?:n"),
            ("GET /a?x#y=1 HTTP/1.1", "GET /a?x"),
            ("GET /a;jsessionid=SECRET?b=c HTTP/1.1", "GET /a;jsessionid=?b="),
            ("GET http://me:secret@host:80/a?b=c HTTP/1.1", "GET /a?b="),
            ("GET https://host HTTP/1.1", "GET /"),
            ("CONNECT host:443 HTTP/1.1", "CONNECT :host"),
            ("OPTIONS * HTTP/1.1", "OPTIONS *"),
            ("GET /a b HTTP/1.1", "GET /a b"),
            ("/only/1", "/only/:n"),
            ("", NO_REQUEST),
            ("-", NO_REQUEST),
            (r"\x16\x03\x01\x02", NO_REQUEST),
            ("GET secret HTTP/1.1", NO_REQUEST),
            ("GET /\0 HTTP/1.1", NO_REQUEST),
        ] {
            assert_eq!(named(text, &[]), class, "{text}");
        }
    }

    #[test]
    fn routes_of_a_user_come_first() {
        let routes = [("^GET /shop/", "GET the shop"), ("(?i)^post ", "posts")];
        assert_eq!(named("GET /shop/shoes/red?x=1 HTTP/1.1", &routes), "GET the shop");
        assert_eq!(named("POST /a HTTP/1.1", &routes), "posts");
        assert_eq!(named("GET /a HTTP/1.1", &routes), "GET /a");
        let by_path = [("^/item/", "item")];
        assert_eq!(named("PUT /item/7 HTTP/1.1", &by_path), "item");
        assert_eq!(named("PUT http://h/item/7 HTTP/1.1", &by_path), "item");
        assert_eq!(named("PUT /an/item/7 HTTP/1.1", &by_path), "PUT /an/item/:n");
        assert_eq!(
            RouteNamer::parse_route("^GET /a?b=c=the b"),
            Ok(("^GET /a?b=c".to_owned(), "the b".to_owned()))
        );
        for wrong in ["", "x", "=x", "x="] {
            let error = RouteNamer::parse_route(wrong).expect_err(wrong);
            assert!(error.to_string().contains("REGEX=NAME"), "{error}");
        }
        let error = RouteNamer::new(&[("(".to_owned(), "x".to_owned())]).expect_err("a brace");
        assert!(error.to_string().starts_with("the route `(` is no regular"), "{error}");
    }

    #[test]
    fn hostile_requests_have_short_names() {
        for text in [
            format!("GET /{} HTTP/1.1", "1/".repeat(1 << 19)),
            format!("GET /?{} HTTP/1.1", "ü=&".repeat(1 << 18)),
            format!("GET /{}", "é".repeat(1 << 19)),
        ] {
            let name = named(&text, &[]);
            assert!(name.starts_with("GET /") && name.len() <= MAX_BYTES, "{}", name.len());
        }
        let mut out = String::new();
        RouteNamer::default().name(b"GET /\xff\xfe HTTP/1.1", &mut out);
        assert_eq!(out, "GET /\u{fffd}\u{fffd}");
    }
}
