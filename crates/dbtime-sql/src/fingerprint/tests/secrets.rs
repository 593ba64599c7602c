//! Statements with a secret in each literal and comment, for sessions of all kinds: none is shown,
//! wherever the text was cut and also where it has lost what was no UTF-8, and names are kept.

use super::by;
use crate::lexical_rules::{LexicalRules, TextCharset};
use dbtime_model::SqlDialect::{self, Mysql, Postgres};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const SECRET: &str = "SECRET";

/// How a session reads texts.
#[derive(Clone, Copy, Debug)]
struct SessionKind {
    dialect: SqlDialect,
    has_escapes: bool,
    quotes_names: bool,
    charset: TextCharset,
}

impl SessionKind {
    fn rules(self) -> LexicalRules {
        LexicalRules::defaults(self.dialect)
            .with_escapes(Some(self.has_escapes))
            .with_quoted_names(Some(self.quotes_names))
            .with_charset(Some(self.charset))
    }
}

fn session() -> impl Strategy<Value = SessionKind> {
    let charsets =
        select(vec![TextCharset::Plain, TextCharset::Gbk, TextCharset::Big5, TextCharset::Sjis]);
    let kind = (select(vec![Mysql, Postgres]), any::<bool>(), any::<bool>(), charsets);
    kind.prop_map(|(dialect, has_escapes, quotes_names, charset)| SessionKind {
        dialect,
        has_escapes,
        quotes_names: quotes_names || dialect == Postgres,
        charset,
    })
}

/// Characters that are a letter of a name, with bytes that are something else by themselves. A
/// `Plain` session sends UTF-8, UHC or EUC-KR.
fn wide(charset: TextCharset) -> &'static [&'static [u8]] {
    match charset {
        TextCharset::Gbk => &[b"\xbf\\", b"\xe4\x5c", b"\x81`", b"\xbfE", b"\x81\x30\x84\x31"],
        TextCharset::Big5 => &[b"\xa5\\", b"\xe4\x5c", b"\xa4`", b"\xa5E", b"\xa4\xa4"],
        TextCharset::Sjis => &[b"\x83\\", b"\xe4\x5c", b"\x83`", b"\x83E", b"\xb1"],
        _ => &[b"\xe4\xb8\xad", b"\xc3\xa4", b"\xb0E", b"\xb0N"],
    }
}

/// What may stand in quotes, with the quote doubled.
fn within(session: SessionKind, has_escapes: bool, quote: &'static str) -> Vec<Vec<u8>> {
    let plain = ["SECRET", "/*", "*/", "--", "-- ", "#", "$$", ";", "\n", "(", "!", "a"];
    let mut bodies: Vec<Vec<u8>> = plain.iter().map(|text| text.as_bytes().to_vec()).collect();
    bodies.push(quote.repeat(2).into_bytes());
    bodies.extend(
        ["'", "\"", "`"].iter().filter(|one| **one != quote).map(|one| one.as_bytes().to_vec()),
    );
    match has_escapes {
        true => {
            bodies.extend([b"\\\\".to_vec(), format!("\\{quote}").into_bytes(), b"\\n".to_vec()])
        }
        false => bodies.push(b"\\".to_vec()),
    }
    bodies.extend(wide(session.charset).iter().map(|character| character.to_vec()));
    bodies
}

/// A literal in quotes, with a secret at its beginning, and in front of it or not a name whose last
/// character is wide.
fn quoted(session: SessionKind, choice: Index, bodies: &[Index]) -> Vec<u8> {
    let mut forms = vec![("'", "'", session.has_escapes), ("N'", "'", session.has_escapes)];
    match session.dialect {
        Postgres => {
            forms.extend([("E'", "'", true), ("U&'", "'", false), ("n'", "'", session.has_escapes)])
        }
        _ if session.quotes_names => {}
        _ => forms.push(("\"", "\"", session.has_escapes)),
    }
    // `choice` has led here by being small: it would take the first forms alone.
    let (begin, quote, has_escapes) = *bodies.last().unwrap_or(&choice).get(&forms);
    let names = [&[&b""[..]; 4][..], wide(session.charset)].concat();
    let name = *bodies.first().unwrap_or(&choice).get(&names);
    // A letter behind it is of the name as well.
    let has_escapes = if name.is_empty() { has_escapes } else { session.has_escapes };
    let bodies =
        bodies.iter().flat_map(|body| body.get(&within(session, has_escapes, quote)).clone());
    let bodies: Vec<u8> = bodies.collect();
    [name, begin.as_bytes(), SECRET.as_bytes(), &bodies, quote.as_bytes()].concat()
}

/// Wide characters outside of quotes: names, and a secret between dollar signs.
fn of_wide(session: SessionKind, character: Index, choice: Index) -> Vec<u8> {
    let character = *character.get(wide(session.charset));
    let quote: &[u8] = if session.dialect == Postgres { b"\"" } else { b"`" };
    let name = [quote, character, quote].concat();
    let tag = [&b"$"[..], character, b"$"].concat();
    let strings = [&tag[..], b" SECRET ' ", &tag].concat();
    let mut all = vec![character.to_vec(), [&b"t.a"[..], character].concat(), name];
    all.extend((session.dialect == Postgres).then_some(strings));
    choice.get(&all).clone()
}

/// What is no literal in quotes, with the name that is in it.
fn others(session: SessionKind) -> Vec<(&'static str, Option<&'static str>)> {
    let mut others = vec![
        ("orders", Some("orders")),
        ("t.price", Some("t.price")),
        ("= -1.5e-3 +", None),
        ("IN (1, 2, 'SECRET')", None),
        ("/* it's \"SECRET */", None),
        ("-- it's \"SECRET\n", None),
        ("x'5345' , (", None),
        (")", None),
    ];
    let quoted = [("\"na'me\"", Some("\"na'me\"")), ("\"a\"\"b\"", Some("\"a\"\"b\""))];
    match session.dialect {
        Postgres => others.extend([
            ("$$SECRET ' $t$ \"$$", None),
            ("$t$SECRET $$ '$t$", None),
            ("#>>", Some("#>>")),
            ("/* /* it's */ SECRET */", None),
            ("$1", None),
            ("a$b", Some("a$b")),
        ]),
        _ => others.extend([
            ("`na'me`", Some("`na'me`")),
            ("2020_orders", Some("2020_orders")),
            ("5--1 note", Some("note")),
            ("# it's \"SECRET\n", None),
            ("/*!50000 b */", None),
            ("0x1F", None),
        ]),
    }
    if session.quotes_names {
        others.extend(quoted);
    }
    others
}

/// A statement, with the names that are in it.
fn statement(session: SessionKind, pieces: &[(Index, Vec<Index>)]) -> (Vec<u8>, Vec<&'static str>) {
    let (mut text, mut names) = (b"SELECT".to_vec(), Vec::new());
    for (choice, bodies) in pieces {
        text.extend(b" , ");
        let others = others(session);
        match choice.get(&[&[None; 8][..], &others.iter().map(Some).collect::<Vec<_>>()].concat()) {
            Some((other, name)) => {
                text.extend(other.as_bytes());
                names.extend(name);
            }
            None if bodies.len() == 5 => text.extend(of_wide(session, bodies[0], bodies[1])),
            None => text.extend(quoted(session, *choice, bodies)),
        }
    }
    (text, names)
}

proptest! {
    #[test]
    fn no_literal_is_shown_and_no_name_is_lost(
        session in session(),
        pieces in prop::collection::vec(
            (any::<Index>(), prop::collection::vec(any::<Index>(), 0..6)), 1..8),
    ) {
        let (text, names) = statement(session, &pieces);
        let shown = by(&session.rules(), &text);
        for name in names {
            prop_assert!(shown.contains(name), "{}: {name} of {}", shown, text.escape_ascii());
        }
        let unknown = LexicalRules::unknown(session.dialect);
        for rules in [session.rules(), unknown, LexicalRules::of_protocol(None)] {
            for end in 0..=text.len() {
                let shown = by(&rules, &text[..end]);
                let of = text[..end].escape_ascii();
                prop_assert!(!shown.contains(SECRET), "{rules:?}: {shown} of {of}");
            }
        }
        for rules in [unknown, LexicalRules::of_protocol(None)] {
            let lossy = String::from_utf8_lossy(&text).into_owned();
            let shown = by(&rules, &lossy);
            prop_assert!(!shown.contains(SECRET), "{rules:?}: {shown} of {lossy}");
        }
    }
}
