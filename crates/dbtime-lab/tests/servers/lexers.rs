//! Fingerprints beside the lexers of the servers: of texts made by chance, those that a server
//! takes say by their results what was a literal in them, and what a name.

use crate::walk::walk_on;
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::results::ResultSets;
use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, fingerprint};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Texts for each kind of session.
const TEXTS: usize = if cfg!(feature = "long") { 250_000 } else { 2_500 };

/// Texts that one server is asked.
const BATCH: usize = 25_000;

/// A kind of session: how it is set up, and how it reads texts; `None`: by no rules that are known.
struct SessionKind {
    target: &'static str,
    setup: &'static [&'static str],
    rules: Option<LexicalRules>,
}

const POSTGRES: LexicalRules = LexicalRules::defaults(SqlDialect::Postgres);
const MYSQL: LexicalRules = LexicalRules::defaults(SqlDialect::Mysql);

const SESSIONS: [SessionKind; 14] = [
    SessionKind { target: "postgres", setup: &[], rules: Some(POSTGRES) },
    SessionKind {
        target: "postgres",
        setup: &["SET standard_conforming_strings = off"],
        rules: Some(POSTGRES.with_escapes(Some(true))),
    },
    SessionKind { target: "postgres", setup: &["SET client_encoding = 'GBK'"], rules: None },
    SessionKind { target: "postgres", setup: &["SET client_encoding = 'SJIS'"], rules: None },
    SessionKind { target: "postgres", setup: &["SET client_encoding = 'BIG5'"], rules: None },
    SessionKind { target: "postgres", setup: &["SET client_encoding = 'GB18030'"], rules: None },
    SessionKind { target: "postgres", setup: &["SET client_encoding = 'UHC'"], rules: None },
    SessionKind { target: "mariadb", setup: &[], rules: Some(MYSQL) },
    SessionKind {
        target: "mariadb",
        setup: &["SET sql_mode = 'NO_BACKSLASH_ESCAPES'"],
        rules: Some(MYSQL.with_escapes(Some(false))),
    },
    SessionKind {
        target: "mariadb",
        setup: &["SET sql_mode = 'ANSI_QUOTES'"],
        rules: Some(MYSQL.with_quoted_names(Some(true))),
    },
    SessionKind { target: "mariadb", setup: &["SET sql_mode = 'MSSQL'"], rules: None },
    SessionKind { target: "mariadb", setup: &["SET NAMES gbk"], rules: None },
    SessionKind { target: "mariadb", setup: &["SET NAMES sjis"], rules: None },
    SessionKind { target: "mariadb", setup: &["SET NAMES big5"], rules: None },
];

/// Servers cut longer names.
const CUT_NAME_BYTES: usize = 60;

/// What begins an item, and what ends it.
const QUOTES: [(&str, &str); 21] = [
    ("'", "'"),
    ("'", "'"),
    ("\"", "\""),
    ("N'", "'"),
    ("E'", "'"),
    ("e'", "'"),
    ("U&'", "'"),
    ("U&\"", "\""),
    ("_utf8'", "'"),
    ("$$", "$$"),
    ("$a$", "$a$"),
    ("$ä$", "$ä$"),
    ("$中\\$", "$中\\$"),
    ("1 AS `", "`"),
    ("1 AS [", "]"),
    ("1 AS \"", "\""),
    ("1 /*", "*/"),
    ("1 /*!", "*/"),
    ("1 -- ", "\n"),
    ("1 --", "\n"),
    ("1 #", "\n"),
];

/// What is in it; words come besides.
const PIECES: [&str; 26] = [
    "'", "''", "\\", "\\\\", "\\'", "\"", "\"\"", "`", "$$", "$a$", "$", "/*", "*/", "--", "-- ",
    "\n", "#", "中", "ä", "ソ", "[", "]", "!", "1", " ", "E",
];

/// What is between items.
const BETWEEN: [&str; 10] = [", ", ", ", ", ", ", ", ", ", ",", "\n", " ", " || ", ""];

/// A word of a text: no other has it within, and no server knows it.
fn word(number: usize) -> String {
    format!("qz{number:02}")
}

/// Makes texts by chance.
struct TextMaker {
    random: Xoshiro256PlusPlus,
    words: usize,
}

impl TextMaker {
    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.random.next_u64() % count as u64).expect("it is less")
    }

    fn text(&mut self) -> String {
        self.words = 0;
        let mut text = "SELECT ".to_owned();
        for item in 0..=self.below(5) {
            if item > 0 {
                text += BETWEEN[self.below(BETWEEN.len())];
            }
            self.push_item(&mut text);
        }
        text
    }

    fn push_item(&mut self, text: &mut String) {
        let (begin, end) = QUOTES[self.below(QUOTES.len())];
        *text += begin;
        for _ in 0..self.below(5) {
            match self.below(3) {
                0 => {
                    *text += &word(self.words);
                    self.words += 1;
                }
                _ => *text += PIECES[self.below(PIECES.len())],
            }
        }
        *text += match self.below(8) {
            0 => QUOTES[self.below(QUOTES.len())].1,
            _ => end,
        };
        if self.below(6) == 0 {
            *text += " AS ";
            *text += &word(self.words);
            self.words += 1;
        }
    }
}

/// Names and values, as [`seen`] reads them.
fn shown(results: &ResultSets) -> String {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or(b"")).into_owned();
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for set in (0..results.len()).filter_map(|index| results.set(index)) {
        names.extend((0..set.columns()).map(|column| text(set.name(column))));
        values.extend((0..set.columns()).map(|column| text(set.value(0, column))));
    }
    serde_json::to_string(&(names, values)).expect("texts")
}

/// Names and values of what a server took; `None`: it did not.
fn seen(told: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (names, values): (Vec<String>, Vec<String>) = serde_json::from_str(told).ok()?;
    (!names.is_empty()).then_some((names, values))
}

/// Compares what is left of a text with what the server made of it.
fn compare(session: &SessionKind, text: &str, names: &[String], values: &[String]) {
    let dialect =
        if session.target == "postgres" { SqlDialect::Postgres } else { SqlDialect::Mysql };
    let unknown = [LexicalRules::unknown(dialect), LexicalRules::of_protocol(None)];
    let mut left = String::new();
    for rules in session.rules.iter().chain(&unknown) {
        fingerprint(text, rules, &mut left);
        for word in (0..100).map(word).filter(|word| text.contains(word)) {
            // A byte of another charset's character before it may have taken its first.
            let is_within = |all: &[String]| all.iter().any(|one| one.contains(&word[1..]));
            let may_name =
                is_within(names) || names.iter().any(|name| name.len() >= CUT_NAME_BYTES);
            // MySQL's names may be written as strings, and what is unclear is cut: between dollar
            // signs there is a string or a name by its version.
            let is_name = text.contains(&format!("AS {word}"))
                || text.contains(&format!("`{word}`"))
                || dialect == SqlDialect::Postgres && text.contains(&format!("\"{word}\""));
            let is_known = Some(rules) == session.rules.as_ref()
                && names.contains(&word)
                && is_name
                && !text.contains("/*!")
                && (dialect == SqlDialect::Postgres || !text.contains('$'));
            let of = format!("{:?} by {rules:?}: {word} in {left} of {text}", session.setup);
            // Where it is in no name either, it was in a comment.
            assert!(!left.contains(&word) || may_name && !is_within(values), "{of}");
            assert!(!is_known || left.contains(&word) || is_within(values), "{of}");
        }
    }
}

/// Asks one server. Returns how many texts it took.
fn ask(session: &SessionKind, texts: &[String]) -> usize {
    let setup = session.setup.iter().copied();
    let queries = setup.chain(texts.iter().map(String::as_str)).map(ConnectionOp::Query);
    let requests: Vec<_> =
        [ConnectionOp::Connect].into_iter().chain(queries).map(|one| (0, one)).collect();
    let told = walk_on(session.target, &requests, 1, shown).expect("a server");
    let told = &told[1 + session.setup.len()..];
    assert_eq!(told.len(), texts.len(), "{}: each has an answer", session.target);
    let taken = texts.iter().zip(told).filter_map(|(text, told)| Some((text, seen(told)?)));
    taken.inspect(|(text, (names, values))| compare(session, text, names, values)).count()
}

#[test]
fn what_a_server_takes_for_a_literal_is_shown_by_no_rules() {
    for (number, session) in (0..).zip(&SESSIONS) {
        let random = Xoshiro256PlusPlus::seed_from_u64(number);
        let mut maker = TextMaker { random, words: 0 };
        let texts: Vec<String> = (0..TEXTS).map(|_| maker.text()).collect();
        let taken: usize = texts.chunks(BATCH).map(|texts| ask(session, texts)).sum();
        // Else it would say nothing.
        assert!(taken > TEXTS / 20, "{} {:?}: {taken}", session.target, session.setup);
    }
}
