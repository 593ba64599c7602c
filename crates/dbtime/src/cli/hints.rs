//! What to write in place of what a command line cannot have: words of other tools and of other
//! commands, values of switches, and flags that do not go together.

use super::log_words;
use super::run_flags::as_number;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use dbtime_model::near_names::is_slip;
use std::ffi::{OsStr, OsString};

/// Words that a command may not know, with the flags that mean them: the first that it has is
/// named.
const WORDS: [(&str, &[&str]); 11] = [
    ("--duration", &["time", "interval"]),
    ("--time", &["interval"]),
    ("--interval", &["every"]),
    ("--format", &["json"]),
    ("--output-format", &["json"]),
    ("--pid", &["process"]),
    ("--process", &["pid"]),
    ("--runs", &["repeat", "blocks", "for"]),
    ("--min-runs", &["repeat", "blocks", "for"]),
    ("--samples", &["repeat", "blocks", "for"]),
    ("--seconds", &["time", "interval", "every"]),
];

/// Flags that do not go together, on either side, and why.
const PAIRS: [(&[&str], &[&str], &str); 4] = [
    (
        &["--sweep", "--repeat", "--find-rate"],
        &["--junit", "--markdown"],
        "that is written of one run; `dbtime study report` writes it of many",
    ),
    (&["--spec"], &[], "a spec has all that describes a run: change it there"),
    (&["--html"], &["--count"], "a page has one interval: leave out --count, or print --markdown"),
    (
        &["--slow", "--command", "--match", "--errors"],
        &["--summary", "--histogram"],
        "sums select by server, user and database alone",
    ),
];

/// What to write in place of what is wrong; `None`: nothing is known of it.
pub(super) fn answer(command: &Command, words: &[OsString], error: &Error) -> Option<String> {
    let word = text_of(error, ContextKind::InvalidArg)?;
    let (command, name) = given_command(command, words);
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let answer = log_words::answer(&name, word);
            let answer = answer.or_else(|| led_to(command, &name, word, words));
            let answer = answer.or_else(|| not_a_file(command, &name, word, words));
            answer.or_else(|| not_a_number(&name, word, words))
        }
        ErrorKind::TooManyValues if word == "--markdown" => Some(prints(&name)),
        ErrorKind::TooManyValues if word == "--events" => Some(prints_events(&name)),
        ErrorKind::ArgumentConflict => conflict(words, word, error),
        _ => None,
    }
}

/// The same complaint without tips that name what is hidden, or what is not like the word.
pub(super) fn with_near_tip(command: &Command, words: &[OsString], mut error: Error) -> Error {
    let Some(tip) = text_of(&error, ContextKind::SuggestedArg).map(str::to_owned) else {
        return error;
    };
    let name = tip.trim_start_matches('-');
    let word = text_of(&error, ContextKind::InvalidArg).unwrap_or_default();
    let is_near = is_slip(long(word).trim_start_matches('-'), name);
    let (command, _) = given_command(command, words);
    let is_shown = |arg: &Arg| arg.get_long() == Some(name) && !arg.is_hide_set();
    if !is_near || !command.get_arguments().any(is_shown) {
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

fn text_of(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// The command that the words begin with, and its name: `dbtime study ab`.
fn given_command<'a>(root: &'a Command, words: &[OsString]) -> (&'a Command, String) {
    let (mut command, mut name) = (root, "dbtime".to_owned());
    for word in words.iter().skip(1) {
        let Some(found) = command.find_subcommand(word) else { break };
        name = format!("{name} {}", found.get_name());
        command = found;
    }
    (command, name)
}

/// The flag that the command has for a word.
fn led_to(command: &Command, name: &str, word: &str, words: &[OsString]) -> Option<String> {
    let (_, flags) = WORDS.iter().find(|(known, _)| *known == word)?;
    // What is hidden is there to be refused.
    let shown = || command.get_arguments().filter(|arg| !arg.is_hide_set());
    let arg = flags.iter().find_map(|flag| shown().find(|arg| arg.get_long() == Some(*flag)))?;
    let flag = match (arg.get_short(), arg.get_long()) {
        (Some(short), _) => format!("-{short}"),
        (None, long) => format!("--{}", long.unwrap_or_default()),
    };
    let value = match arg.get_value_names() {
        Some([usual, ..]) if arg.get_action().takes_values() => {
            // The time that all runs take is no number of them.
            let given = value_of(words, word).and_then(as_number).filter(|_| flag != "--for");
            let usual = usual.as_str();
            format!(" {}", given.map_or_else(|| usual.to_owned(), |it| with_unit(it, usual)))
        }
        _ => String::new(),
    };
    Some(format!("`{name}` has no flag {word}: write {flag}{value}"))
}

/// A bare number is one of seconds, where a time is wanted.
fn with_unit(number: &str, usual: &str) -> String {
    let is_bare = number.bytes().all(|byte| byte.is_ascii_digit());
    if is_bare && usual == "TIME" { format!("{number}s") } else { number.to_owned() }
}

/// A file behind a switch that prints.
fn not_a_file(command: &Command, name: &str, word: &str, words: &[OsString]) -> Option<String> {
    let is_behind = words.windows(2).any(|two| two[0] == "--markdown" && two[1] == word);
    let is_switch =
        |arg: &Arg| arg.get_long() == Some("markdown") && !arg.get_action().takes_values();
    (is_behind && command.get_arguments().any(is_switch)).then(|| prints(name))
}

fn prints(name: &str) -> String {
    format!("`{name} --markdown` prints and takes no file: write > FILE behind it")
}

/// A number of transactions behind a switch that prints.
fn not_a_number(name: &str, word: &str, words: &[OsString]) -> Option<String> {
    let is_number = |word: &OsString| word.to_str().and_then(as_number).is_some();
    let is_behind = words.windows(2).any(|two| two[0] == "--events" && is_number(&two[1]));
    (is_behind && !word.starts_with('-')).then(|| prints_events(name))
}

fn prints_events(name: &str) -> String {
    format!(
        "`{name} --events` takes no value: it prints events as JSON lines; the number of \
         transactions is --transactions N"
    )
}

/// Why two flags do not go together, without those that were not given.
fn conflict(words: &[OsString], word: &str, error: &Error) -> Option<String> {
    let others = match error.get(ContextKind::PriorArg)? {
        ContextValue::String(other) => vec![other.as_str()],
        ContextValue::Strings(others) => others.iter().map(String::as_str).collect(),
        _ => return None,
    };
    let is_given = |flag: &str| words.iter().any(|word| is_flag(word, flag));
    let given: Vec<&str> = others.iter().copied().filter(|other| is_given(long(other))).collect();
    let why = given.iter().find_map(|other| reason(long(word), long(other)));
    // The words of the grammar are as good where nothing is to be left out or added.
    let [other] = given[..] else { return None };
    if others.len() == 1 && why.is_none() {
        return None;
    }
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    Some(format!("the argument '{word}' cannot be used with '{other}'{why}"))
}

/// The name of a flag as complaints have it: `--slow` of `--slow <TIME>`.
fn long(shown: &str) -> &str {
    shown.split([' ', '=']).next().unwrap_or(shown)
}

/// Whether a word gives this flag.
fn is_flag(word: &OsStr, flag: &str) -> bool {
    let rest = word.to_str().and_then(|word| word.strip_prefix(flag));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Why one flag does not go with the other; an empty list is all flags.
fn reason(one: &str, other: &str) -> Option<&'static str> {
    let has = |list: &[&str], flag: &str| list.is_empty() || list.contains(&flag);
    let is_of = |(a, b, _): &&(&[&str], &[&str], &str)| {
        (has(a, one) && has(b, other)) || (has(a, other) && has(b, one))
    };
    PAIRS.iter().find(is_of).map(|(_, _, why)| *why)
}

/// The value that a word of a command line was given: `8` of `--threads=8`, `--threads 8`, `-c8`.
pub(super) fn value_of<'a>(words: &'a [OsString], name: &str) -> Option<&'a str> {
    let mut given = words.iter().enumerate();
    let (at, rest) = given.find_map(|(at, word)| Some((at, word.to_str()?.strip_prefix(name)?)))?;
    match rest.strip_prefix('=').unwrap_or(rest) {
        "" => words.get(at + 1)?.to_str(),
        value => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::parse::complaint_of as refused;

    #[test]
    fn words_are_answered_with_the_flag_that_the_command_has() {
        for (line, told) in [
            ("trace --duration 10s", "`dbtime trace` has no flag --duration: write --time 10s"),
            ("trace --duration=10", "write --time 10s"),
            ("trace --format json", "`dbtime trace` has no flag --format: write --json"),
            ("trace --interval 5s", "`dbtime trace` has no flag --interval: write --every 5s"),
            ("trace --pid 4711", "`dbtime trace` has no flag --pid: write -p 4711"),
            ("top --pid hush", "`dbtime top` has no flag --pid: write -p PID|NAME"),
            ("counters --target sqlite:x --duration 5s", "write --interval 5s"),
            ("compare a b --format json", "`dbtime compare` has no flag --format: write --json"),
            ("runs --format json", "`dbtime runs` has no flag --format: write --json"),
            ("run --events=1000", "the number of transactions is --transactions N"),
            ("run atm --events 1000", "the number of transactions is --transactions N"),
            ("run --events 1000 atm", "the number of transactions is --transactions N"),
            ("study run s.toml --runs 10", "has no flag --runs: write --blocks 10"),
            ("study ab --a x=1 --b x=2 --runs 10", "has no flag --runs: write --for TIME"),
            ("study ab atm --a x=1 --b x=2 --events 9", "transactions is --transactions N"),
            ("explain r --markdown out.md", "--markdown` prints and takes no file: write > FILE"),
            ("report r --markdown=out.md", "`dbtime report --markdown` prints and takes no file"),
        ] {
            let text = refused(&format!("dbtime {line}"));
            assert!(text.contains(told) && !text.contains("hush"), "{line}: {text}");
        }
    }

    #[test]
    fn pairs_are_refused_with_a_reason_and_without_what_was_not_given() {
        for (line, told) in [
            (
                "trace --slow 5ms --summary",
                "'--slow <TIME>' cannot be used with '--summary': sums select by server, user",
            ),
            ("run --sweep workers=1,2 --junit f", "`dbtime study report` writes it of many"),
            ("run --repeat 2 --markdown f", "`dbtime study report` writes it of many"),
            ("run --spec s.json --workers 2", "a spec has all that describes a run"),
            ("counters --target sqlite:x --count 2 --html f", "a page has one interval"),
        ] {
            let text = refused(&format!("dbtime {line}"));
            assert!(text.contains(told) && !text.contains("--histogram"), "{line}: {text}");
        }
    }

    #[test]
    fn tips_name_what_a_word_is_but_for_a_slip() {
        for (word, tip) in [
            ("--conections 8", "'--connections'"),
            ("--wramup 1s", "'--warmup'"),
            ("--statem x", "'--statement"),
        ] {
            let text = refused(&format!("dbtime run {word}"));
            assert!(text.contains(tip), "{word}: {text}");
        }
        let pair = "study ab --a workers=1 --b workers=2";
        for (command, word) in [
            ("run", "--versatile"),
            ("run", "--burst"),
            ("run", "--detached"),
            (pair, "--best"),
            (pair, "--average"),
            (pair, "--primitive"),
        ] {
            let text = refused(&format!("dbtime {command} {word}"));
            assert!(!text.contains("a similar argument"), "{word}: {text}");
        }
    }

    #[test]
    fn tips_name_nothing_that_is_hidden() {
        for word in ["--paren", "--flat-out-rat", "--slices-from-stdi", "--user-s", "--vu"] {
            let text = refused(&format!("dbtime run {word}"));
            let hidden = [
                "'--parent'",
                "'--flat-out-rate'",
                "'--slices-from-stdin'",
                "'--users'",
                "'--vus'",
            ];
            assert!(hidden.iter().all(|tip| !text.contains(tip)), "{text}");
        }
    }
}
