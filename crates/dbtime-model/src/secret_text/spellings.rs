//! Spellings of a secret that are no `name=value`: in URLs, in Go's data sources, in JSON and
//! headers, and in statements.

use super::{
    EMPTY, MASK, QUOTES, is_masked, is_of_name, is_password_word, is_switch, is_whole, plain,
};
use std::borrow::Cow;
use std::ops::Range;

/// What stands before the secret of a header.
const HEADER_SCHEMES: [&str; 6] = ["basic", "bearer", "digest", "token", "negotiate", "apikey"];

/// Ends of the names of headers that are secrets. The value of the first has a scheme before it.
const HEADERS: [&str; 2] = ["authorization", "cookie"];

/// What curl takes a header behind, in the same word.
const HEADER_FLAG: &str = "-H";

/// Words of a statement behind which a password stands, behind `IDENTIFIED`.
const BEHIND_IDENTIFIED: [&str; 4] = ["by", "as", "using", "replace"];

/// Of a statement these words may lie between `IDENTIFIED` and the password.
const WORDS_OF_IDENTIFIED: usize = 5;

/// A text with all of them masked.
pub(super) fn masked(text: &str, is_secret: fn(&str) -> bool) -> Cow<'_, str> {
    let shown = in_urls(text);
    let sources = shown.match_indices('@').filter_map(|(at, _)| source_place(&shown, at));
    let named = shown.match_indices(':').filter_map(|(at, _)| named_place(&shown, at, is_secret));
    let literals = shown.match_indices(QUOTES).filter_map(|(at, _)| literal_place(&shown, at));
    let places = merged(sources.chain(named).chain(literals).collect());
    let mut shown = shown;
    for place in places.into_iter().rev() {
        shown.to_mut().replace_range(place, MASK);
    }
    shown
}

/// Places in their order, those that overlap as one.
fn merged(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_unstable_by_key(|place| place.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(places.len());
    for place in places {
        match apart.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => apart.push(place),
        }
    }
    apart
}

/// Whether a value says nothing that nobody may know.
fn is_harmless(value: &str) -> bool {
    // `(using password: YES)`
    let is_bare = is_switch(value.trim_end_matches(')'));
    EMPTY.contains(&value.trim()) || is_masked(value) || is_bare || value == "null"
}

/// The password of `user:password@network(address)/database`, whose `@` stands there.
fn source_place(text: &str, at: usize) -> Option<Range<usize>> {
    let (before, after) = (&text[..at], &text[at + 1..]);
    let behind = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let is_network = behind.len() < after.len() && behind.starts_with('(');
    if !is_network && !after.starts_with('/') {
        return None;
    }
    let ends_login = |c: char| c.is_whitespace() || QUOTES.contains(&c);
    let login = before.rsplit(ends_login).next().unwrap_or("");
    let colon = login.find(':').filter(|_| !login.contains("://"))?;
    let password = &login[colon + 1..];
    (!is_masked(password) && !password.is_empty()).then(|| at - password.len()..at)
}

/// The value of `"name": "value"` or `name: value`, whose colon stands there.
fn named_place(text: &str, colon: usize, is_secret: fn(&str) -> bool) -> Option<Range<usize>> {
    let (before, after) = (&text[..colon], &text[colon + 1..]);
    let quoted = before.trim_end().strip_suffix(QUOTES);
    let name = quoted.map_or(before, |name| name.trim_end_matches('\\'));
    let name = name.rsplit(|c| !is_of_name(c)).next().unwrap_or("");
    let name = name.strip_prefix(HEADER_FLAG).unwrap_or(name);
    let value = after.trim_start_matches([' ', '\t']);
    let is_cast = after.starts_with(':');
    let is_tight = quoted.is_none() && value.len() == after.len();
    // What is not quoted may be the port of an address, or a tag, but for the blank.
    if !is_secret(name) || is_cast || (is_tight && !is_header_name(name)) {
        return None;
    }
    let place = match (quoted.is_some(), is_tight) {
        (true, _) => json_value(value),
        (false, true) => tight_value(value),
        (false, false) => header_value(value),
    };
    let begin = text.len() - value.len();
    let found = &value[place.clone()];
    // "The password: see there" only speaks of one; a header may have several words.
    let is_header = quoted.is_some() || name.contains('-') || is_whole(&plain(name));
    let is_prose = !is_header && place.start == 0 && found.trim().contains(char::is_whitespace);
    (!is_prose && !is_harmless(found)).then(|| begin + place.start..begin + place.end)
}

/// Where the value itself stands in what follows the colon of JSON, which may be escaped itself.
fn json_value(value: &str) -> Range<usize> {
    let inner = value.trim_start_matches('\\');
    let slashes = value.len() - inner.len();
    let Some(quote) = inner.chars().next().filter(|c| QUOTES.contains(c)) else {
        let end = value.find(|c: char| c.is_whitespace() || ",}]\"'".contains(c));
        return 0..end.unwrap_or(value.len());
    };
    let begin = slashes + 1;
    let mut is_escaped = false;
    for (at, c) in value[begin..].char_indices() {
        if c == quote && is_escaped == (slashes > 0) {
            return begin..begin + at - usize::from(is_escaped);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    begin..value.len()
}

/// Where the value itself stands in what follows the colon of a header: behind the scheme.
fn header_value(value: &str) -> Range<usize> {
    let mut begin = usize::from(value.starts_with(QUOTES));
    let ends = |c: char| QUOTES.contains(&c) || c == '\n' || c == '\r';
    let end = value[begin..].find(ends).map_or(value.len(), |at| begin + at);
    // `read -p "Password: " name` asks for one.
    if begin == 1 && value[begin..end].starts_with(' ') {
        return begin..begin;
    }
    let scheme = value[begin..end].split_once(' ');
    let scheme = scheme.filter(|(scheme, rest)| is_scheme(scheme) && !rest.trim().is_empty());
    begin += scheme.map_or(0, |(scheme, _)| scheme.len() + 1);
    begin..end
}

/// Whether nothing but a header is called so.
fn is_header_name(name: &str) -> bool {
    let name = plain(name);
    name.starts_with("x-") || HEADERS.iter().any(|header| name.ends_with(header))
}

/// Where the value itself stands in what follows the colon of a header without a blank: it goes to
/// the next one.
fn tight_value(value: &str) -> Range<usize> {
    if value.starts_with(QUOTES) {
        return header_value(value);
    }
    let end = word_end(value);
    match is_scheme(&value[..end]) && value[end..].starts_with(' ') {
        true => end + 1..end + 1 + word_end(&value[end + 1..]),
        false => 0..end,
    }
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || QUOTES.contains(&c)).unwrap_or(text.len())
}

fn is_scheme(word: &str) -> bool {
    HEADER_SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a value may have the scheme before it.
fn has_scheme(name: &str) -> bool {
    plain(name).ends_with(HEADERS[0])
}

/// How long the value of `name=` is that was found to be so long: behind the scheme of a header
/// stands another word.
pub(super) fn behind_scheme(name: &str, value: &str, length: usize) -> usize {
    let next = value[length..].strip_prefix(' ');
    match next.filter(|_| has_scheme(name) && is_scheme(&value[..length])) {
        Some(next) => length + 1 + word_end(next),
        None => length,
    }
}

/// The value of `name=` without the scheme of a header.
pub(super) fn without_scheme<'a>(name: &str, value: &'a str) -> &'a str {
    let split = value.trim_start_matches(QUOTES).split_once(' ');
    match split.filter(|(scheme, _)| has_scheme(name) && is_scheme(scheme)) {
        Some((_, rest)) => rest,
        None => value,
    }
}

/// The literal of `PASSWORD 'x'`, `IDENTIFIED BY 'x'` and `SET PASSWORD FOR u = 'x'`, whose first
/// quote stands there.
fn literal_place(text: &str, at: usize) -> Option<Range<usize>> {
    let head = without_prefix(&text[..at]);
    let before = head.trim_end_matches(|c: char| c.is_whitespace() || c == '(');
    let last = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    // Right behind the word the quote is that of a name, as in JSON.
    if before.len() == head.len() && !before.ends_with('=') {
        return None;
    }
    let words: Vec<&str> = before.split_whitespace().rev().take(WORDS_OF_IDENTIFIED).collect();
    let has = |keyword: &str| words.iter().any(|word| word.eq_ignore_ascii_case(keyword));
    let is_behind = BEHIND_IDENTIFIED.iter().any(|word| last.eq_ignore_ascii_case(word));
    let is_password = is_password_word(last)
        || (is_behind && has("identified"))
        || (before.ends_with('=') && has("password") && has("for"));
    if !is_password {
        return None;
    }
    let quote = text[at..].chars().next()?;
    let inner = &text[at + 1..];
    // Of a text that was cut the first quote may be the last.
    let length = literal_length(inner, quote).or_else(|| inner.find(quote))?;
    (!is_harmless(&inner[..length])).then(|| at + 1..at + 1 + length)
}

/// The text before a quote without what belongs to the literal: `E'x'`.
fn without_prefix(text: &str) -> &str {
    let rest = text.strip_suffix(['e', 'E', 'n', 'N']);
    rest.filter(|rest| rest.ends_with([' ', '\t', '\n', '(', '='])).unwrap_or(text)
}

/// How long a literal is behind its first quote: one that is doubled, or behind a backslash, does
/// not end it.
fn literal_length(inner: &str, quote: char) -> Option<usize> {
    let mut signs = inner.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        let is_doubled = sign == quote && signs.peek().is_some_and(|(_, next)| *next == quote);
        if sign == '\\' || is_doubled {
            signs.next();
        } else if sign == quote {
            return Some(at);
        }
    }
    None
}

/// Masks what stands between `user:` and `@` of every URL.
fn in_urls(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    let starts: Vec<usize> = text.match_indices("://").map(|(at, _)| at + 3).collect();
    for start in starts.into_iter().rev() {
        let Some((begin, end)) = password_place(&out[start..]) else { continue };
        out.to_mut().replace_range(start + begin..start + end, MASK);
    }
    out
}

/// Where the password stands in what follows `://`.
fn password_place(rest: &str) -> Option<(usize, usize)> {
    let whole = &rest[..rest.find([' ', '\'', '"']).unwrap_or(rest.len())];
    let authority = &whole[..whole.find(['/', '?', '#']).unwrap_or(whole.len())];
    let colon = authority.find(':')?;
    let is_port = authority[colon + 1..].bytes().all(|byte| byte.is_ascii_digit());
    // A password may hold what it should not: the last `@` ends it. What is no port is one that
    // holds a / or the like.
    let end = match authority.rfind('@') {
        None if !is_port => whole.rfind('@')?,
        end => end?,
    };
    (colon < end).then_some((colon + 1, end))
}
