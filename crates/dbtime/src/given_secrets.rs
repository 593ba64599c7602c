//! Secrets of this command line, which nothing that is said of it repeats.
//!
//! Whoever finds a target in the place of a file, a number or a process quotes it, each in words of
//! its own: here is what all words go through. What holds no secret of the command line stays as it
//! is, such as a remedy that shows where a password belongs.

use crate::spec::QUERY;
use dbtime_engines::server::url::without_password;
use dbtime_model::secret_text::{MASK, holds_secret, is_secret_name, without_secrets};
use dbtime_model::{Product, percent};
use dbtime_sql::without_passwords;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// A shorter secret could be a piece of any word: it is one where it stands as it was given.
const SHORTEST_CHARS: usize = 4;

/// The flag of a server's settings, of which many are called after passwords, and few are one.
const SETTING: &str = "--server-set";

/// What stands between a secret and its name, or the user.
const BETWEEN: [char; 5] = [':', '=', ' ', '\'', '"'];

/// A text without the secrets of this process's arguments, and of the statement that one of them
/// leaves to the environment.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    static GIVEN: OnceLock<GivenSecrets> = OnceLock::new();
    let given = GIVEN.get_or_init(|| {
        let words = std::env::args_os().skip(1).chain(std::env::var_os(QUERY));
        let words = words.map(|word| word.to_string_lossy().into_owned());
        GivenSecrets::of(&words.collect::<Vec<_>>())
    });
    given.hidden(text)
}

/// The secrets of a command line.
#[derive(Default)]
struct GivenSecrets {
    /// With what stands around them there, and the same with a mask.
    in_place: Vec<(String, String)>,
    /// Those that may stand elsewhere too, the longest first.
    alone: Vec<String>,
}

impl GivenSecrets {
    fn of(words: &[String]) -> Self {
        let mut given = Self::default();
        let mut found: Vec<&str> = Vec::new();
        let (mut rest, mut before) = (String::new(), "");
        for word in words {
            let places = secret_places(before, word);
            given.in_place.extend(places.iter().filter_map(|place| with_place(word, place)));
            found.extend(places.iter().map(|place| &word[place.clone()]));
            let is_shown = |at: usize| !places.iter().any(|place| place.contains(&at));
            rest.extend(word.char_indices().filter(|(at, _)| is_shown(*at)).map(|(_, sign)| sign));
            rest.push(' ');
            before = word;
        }
        let spelled = found.into_iter().flat_map(spellings);
        given.alone = spelled.filter(|secret| is_own(secret, &rest)).collect();
        given.alone.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        given.alone.dedup();
        given
    }

    fn hidden<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut shown = Cow::Borrowed(text);
        for (given, masked) in &self.in_place {
            if shown.contains(given.as_str()) {
                shown = Cow::Owned(shown.replace(given.as_str(), masked));
            }
        }
        for secret in &self.alone {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(without_word(&shown, secret));
            }
        }
        shown
    }
}

/// Whether the next word is a secret.
fn announces(word: &str) -> bool {
    word.starts_with("--") && !word.contains('=') && is_secret_name(word)
}

fn is_setting(before: &str, word: &str) -> bool {
    before == SETTING || word.strip_prefix(SETTING).is_some_and(|rest| rest.starts_with('='))
}

/// Where secrets stand in a word, given the one before it.
fn secret_places(before: &str, word: &str) -> Vec<Range<usize>> {
    if is_setting(before, word) && !holds_secret(word) {
        return Vec::new();
    }
    let value = match word.split_once('=') {
        _ if announces(before) && !word.starts_with('-') => Some(0),
        Some((name, _)) if announces(name) => Some(name.len() + 1),
        _ => None,
    };
    let mut places: Vec<Range<usize>> = match value {
        Some(begin) => std::iter::once(begin..word.len()).collect(),
        // A word with several URLs has several, which as one target it has not.
        None => [
            without_password(word),
            without_secrets(word).into_owned(),
            without_passwords(word).into_owned(),
        ]
        .iter()
        .flat_map(|shown| masked_places(word, shown))
        .collect(),
    };
    places.iter_mut().for_each(|place| *place = trimmed(word, place));
    places.retain(|place| !place.is_empty() && word[place.clone()] != *MASK);
    places
}

/// What a word has where what is shown of it has masks. Blanks and quotes may be left out there.
fn masked_places(word: &str, shown: &str) -> Vec<Range<usize>> {
    let (mut places, mut from, mut rest) = (Vec::new(), 0, shown);
    while let Some((before, after)) = rest.split_once(MASK) {
        let Some(begin) = behind(word, from, before) else {
            places.push(from..word.len());
            break;
        };
        let end = match after.find(MASK) {
            Some(next) => word[begin..].find(&after[..next]).map(|length| begin + length),
            None => word.len().checked_sub(after.len()).filter(|end| {
                *end >= begin && word.is_char_boundary(*end) && word[*end..] == *after
            }),
        };
        let between = after.split(MASK).next().unwrap_or(after);
        from = end.or_else(|| bare_end(word, begin, between)).unwrap_or(word.len());
        places.push(begin..from);
        rest = after;
    }
    places
}

/// What stands on both sides of the mask of a statement, whose password may lack it.
const MASK_QUOTE: char = '\'';

/// Where a text ends that begins there in a word, maybe with blanks and quotes in it.
fn behind(word: &str, from: usize, text: &str) -> Option<usize> {
    let mut end = from;
    for sign in text.chars() {
        let mut signs = word[end..].char_indices();
        match signs.find(|(_, found)| *found == sign || !BETWEEN.contains(found)) {
            Some((at, found)) if found == sign => end += at + found.len_utf8(),
            _ if sign == MASK_QUOTE => {}
            _ => return None,
        }
    }
    Some(end)
}

/// Where a password without quotes ends that begins there in a word: before a blank. `None`: what
/// follows its mask does not stand behind it.
fn bare_end(word: &str, begin: usize, behind_mask: &str) -> Option<usize> {
    let follows = behind_mask.trim_matches(MASK_QUOTE);
    let length = word[begin..].find(follows).filter(|_| !follows.is_empty())?;
    let is_bare = !word[begin..begin + length].contains(char::is_whitespace);
    is_bare.then_some(begin + length)
}

/// A place without the blanks and quotes around it.
fn trimmed(word: &str, place: &Range<usize>) -> Range<usize> {
    let is_around = |sign: char| sign.is_whitespace() || sign == '\'' || sign == '"';
    let text = &word[place.clone()];
    let begin = place.end - text.trim_start_matches(is_around).len();
    begin..begin + word[begin..place.end].trim_end_matches(is_around).len()
}

/// A secret with its name or user and the sign behind it, and the same with a mask; `None`: nothing
/// stands before it.
fn with_place(word: &str, place: &Range<usize>) -> Option<(String, String)> {
    let head = word[..place.start].trim_end_matches(BETWEEN);
    if head.len() == place.start {
        return None;
    }
    let is_of_name = |sign: char| sign.is_alphanumeric() || "_-.%".contains(sign);
    let before = &word[head.trim_end_matches(is_of_name).len()..place.start];
    let behind: String = word[place.end..].chars().take(1).collect();
    let secret = &word[place.clone()];
    Some((format!("{before}{secret}{behind}"), format!("{before}{MASK}{behind}")))
}

/// A secret as it may be told: as it is, decoded, and in pieces, where somebody has cut it.
fn spellings(secret: &str) -> Vec<String> {
    let decoded = percent::decode(secret).and_then(|bytes| String::from_utf8(bytes).ok());
    let pieces = secret.split(|sign: char| !sign.is_alphanumeric()).map(str::to_owned);
    std::iter::once(secret.to_owned()).chain(decoded).chain(pieces).collect()
}

/// Whether a secret is no word that has another meaning, for dbtime or in the rest of the command
/// line: `postgres://postgres:postgres@h`.
fn is_own(secret: &str, rest: &str) -> bool {
    let is_long = secret.chars().count() >= SHORTEST_CHARS;
    is_long && !rest.contains(secret) && Product::named(secret).is_none() && !is_secret_name(secret)
}

/// A text with a mask in the place of a word that is no piece of a longer one.
fn without_word(text: &str, word: &str) -> String {
    let is_inner = |one: Option<char>, other: Option<char>| {
        [one, other].into_iter().all(|sign| sign.is_some_and(char::is_alphanumeric))
    };
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(word) {
        let end = at + word.len();
        let is_piece = is_inner(text[..at].chars().next_back(), word.chars().next())
            || is_inner(word.chars().next_back(), text[end..].chars().next());
        if !is_piece {
            shown += &text[from..at];
            shown += MASK;
            from = end;
        }
    }
    shown + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(words: &[&str]) -> GivenSecrets {
        GivenSecrets::of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn secrets_of_the_command_line_are_hidden_wherever_they_are_told() {
        for (words, text, shown) in [
            (
                &["ps", "mysql://u:hush@h/d"][..],
                "`mysql://u:hush@h/d` is none",
                "`mysql://u:***@h/d` is none",
            ),
            (
                &["report", "pg://u:hush@h"],
                "pg:/u:hush@h/run.json: none",
                "pg:/u:***@h/run.json: none",
            ),
            (&["ps", "mysql://u:x@h"], "mysql://u:x@h: exit x", "mysql://u:***@h: exit x"),
            (&["ps", "mysql://u:a,hush@h"], "hush@h is none", "***@h is none"),
            (&["ps", "mysql://u:h%75sh@h"], "password hush", "password ***"),
            (&["ps", "mysql:u:hush@h"], "no `mysql:u:hush@h`", "no `mysql:***@h`"),
            (
                &["ps", "host=h password = 'hu sh'"],
                "host=h password = 'hu sh'",
                "host=h password = '***'",
            ),
            (&["ps", "password=x user=u"], "no password=x user=u", "no password=*** user=u"),
            (&["ps", "mysql://u@h?p%61ssword=hush"], "p%61ssword=hush", "p%61ssword=***"),
            (&["x", "--mysql-password", "hush"], "no hush, but hushed", "no ***, but hushed"),
            (
                &["run", "--query", "ALTER ROLE r PASSSWORD 'hush'"],
                "near 'PASSSWORD 'hush'' at line 1",
                "near 'PASSSWORD '***'' at line 1",
            ),
            (
                &["run", "--query", "ALTER ROLE r PASSWORD hush LOGIN"],
                "no r: ALTER ROLE r PASSWORD hush LOGIN, or hush",
                "no r: ALTER ROLE r PASSWORD *** LOGIN, or ***",
            ),
            (
                &["run", "--query", "ALTER USER u IDENTIFIED BY hush REPLACE hash"],
                "ALTER: hash or hush REPLACE",
                "ALTER: *** or *** REPLACE",
            ),
            (&["x", "--mysql-password=hu sh"], "--mysql-password=hu sh", "--mysql-password=***"),
            (&["x", "--target=a://u:hush@h,b://v:hash@h"], "hash or hush", "*** or ***"),
        ] {
            assert_eq!(given(words).hidden(text), shown, "{words:?}");
        }
    }

    #[test]
    fn what_holds_no_secret_stays() {
        for (words, text) in [
            (&["ps", "mysql://u:hush@h/d"][..], "write mysql://USER:PASSWORD@HOST or password=…"),
            (&["ps", "postgres://postgres:postgres@h"], "no postgres: write postgres://USER@HOST"),
            (&["ps", "postgres://u:password@h"], "give the password in DBTIME_PASSWORD"),
            (&["ps", "mysql://u:abc@h"], "abc"),
            (&["run", "atm", "--time", "1s"], "1s"),
            (&["run", "--server-set", "password_encryption=scram"], "no value `scram`"),
            (&["run", "--server-set=password_encryption=scram"], "no value `scram`"),
            (&[], "x"),
        ] {
            let given = given(words);
            assert_eq!(given.hidden(text), text, "{words:?}");
        }
    }

    #[test]
    fn any_command_line_is_taken() {
        for word in
            ["", "=", "://:@", "a:***@h", "é://é:é@é", "password='", "--password=", "'x=\"y"]
        {
            for before in ["", "--token", "x"] {
                let given = given(&[before, word]);
                given.hidden(word);
                given.hidden("é:é@***");
            }
        }
    }
}
