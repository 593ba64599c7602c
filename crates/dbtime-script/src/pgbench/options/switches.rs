//! Switches as getopt reads them: short ones run together, long ones may be cut short, operands
//! may stand anywhere. What the switches mean is not known here.

use super::error::{UsageError, quoted};

/// A switch that there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandSwitch {
    /// The long name; it is what the rest of the program knows the switch by.
    pub(super) name: &'static str,
    pub(super) short: Option<char>,
    /// Whether a value follows.
    pub(super) takes: bool,
    /// Whether pgbench does not have it. Such a name cannot be cut short, so that it never stands
    /// in the way of one of pgbench's.
    pub(super) is_ours: bool,
}

const fn long(name: &'static str, takes: bool) -> CommandSwitch {
    CommandSwitch { name, short: None, takes, is_ours: false }
}

const fn both(name: &'static str, short: char, takes: bool) -> CommandSwitch {
    CommandSwitch { short: Some(short), ..long(name, takes) }
}

const fn ours(name: &'static str, takes: bool) -> CommandSwitch {
    CommandSwitch { is_ours: true, ..long(name, takes) }
}

/// All of them. Messages list names in this order.
const SWITCHES: &[CommandSwitch] = &[
    both("builtin", 'b', true),
    both("client", 'c', true),
    both("connect", 'C', false),
    both("debug", 'd', false),
    both("define", 'D', true),
    both("file", 'f', true),
    both("fillfactor", 'F', true),
    both("host", 'h', true),
    both("initialize", 'i', false),
    both("init-steps", 'I', true),
    both("jobs", 'j', true),
    both("log", 'l', false),
    both("latency-limit", 'L', true),
    both("no-vacuum", 'n', false),
    both("port", 'p', true),
    both("progress", 'P', true),
    both("protocol", 'M', true),
    both("quiet", 'q', false),
    both("report-per-command", 'r', false),
    both("rate", 'R', true),
    both("scale", 's', true),
    both("select-only", 'S', false),
    both("skip-some-updates", 'N', false),
    both("time", 'T', true),
    both("transactions", 't', true),
    both("username", 'U', true),
    both("vacuum-all", 'v', false),
    long("unlogged-tables", false),
    long("tablespace", true),
    long("index-tablespace", true),
    long("sampling-rate", true),
    long("aggregate-interval", true),
    long("progress-timestamp", false),
    long("log-prefix", true),
    long("foreign-keys", false),
    long("random-seed", true),
    long("show-script", true),
    long("partitions", true),
    long("partition-method", true),
    long("failures-detailed", false),
    long("max-tries", true),
    long("verbose-errors", false),
    both("help", '?', false),
    both("version", 'V', false),
    ours("dbname", true),
    ours("target", true),
    ours("allow-shell", false),
    ours("classic", false),
    ours("out", true),
    ours("json", false),
    ours("shards", true),
];

/// A command line that is cut as it is read, so that what is wrong first is told first.
#[derive(Debug)]
pub(super) struct CommandLine<I> {
    rest: I,
    /// Short switches that stood behind one dash and are yet to be read.
    together: String,
    /// What is no switch.
    pub(super) operands: Vec<String>,
}

impl<I: Iterator<Item = String>> CommandLine<I> {
    pub(super) fn new(arguments: I) -> Self {
        Self { rest: arguments, together: String::new(), operands: Vec::new() }
    }

    /// The next switch, with its value; that of one that takes none is empty.
    pub(super) fn next(&mut self) -> Result<Option<(&'static str, String)>, UsageError> {
        loop {
            if !self.together.is_empty() {
                return self.short().map(Some);
            }
            let Some(argument) = self.rest.next() else { return Ok(None) };
            if argument == "--" {
                self.operands.extend(self.rest.by_ref());
            } else if let Some(text) = argument.strip_prefix("--") {
                return self.long(text).map(Some);
            } else if argument.len() > 1 && argument.starts_with('-') {
                self.together = argument[1..].to_owned();
            } else {
                self.operands.push(argument);
            }
        }
    }

    fn long(&mut self, text: &str) -> Result<(&'static str, String), UsageError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let CommandSwitch { name, takes, .. } = *find(name, text)?;
        let wrong = |what: &str| UsageError::hinted(format!("option '--{name}' {what}"));
        match (takes, value) {
            (false, None) => Ok((name, String::new())),
            (false, Some(_)) => Err(wrong("doesn't allow an argument")),
            (true, value) => {
                let value = value.or_else(|| self.rest.next());
                Ok((name, value.ok_or_else(|| wrong("requires an argument"))?))
            }
        }
    }

    /// The first of the short switches that run together; one that takes a value takes the others.
    fn short(&mut self) -> Result<(&'static str, String), UsageError> {
        let letter = self.together.remove(0);
        let Some(switch) = SWITCHES.iter().find(|switch| switch.short == Some(letter)) else {
            return Err(UsageError::hinted(format!("invalid option -- '{letter}'")));
        };
        if !switch.takes {
            return Ok((switch.name, String::new()));
        }
        let left = std::mem::take(&mut self.together);
        let value = if left.is_empty() { self.rest.next() } else { Some(left) };
        let missing = || format!("option requires an argument -- '{letter}'");
        Ok((switch.name, value.ok_or_else(|| UsageError::hinted(missing()))?))
    }
}

/// The switch of a long name, which may be cut short as long as it is only one's. `text` is what
/// was written behind the dashes.
fn find(name: &str, text: &str) -> Result<&'static CommandSwitch, UsageError> {
    if let Some(switch) = SWITCHES.iter().find(|switch| switch.name == name) {
        return Ok(switch);
    }
    let text = quoted(text);
    let begins = |switch: &&CommandSwitch| !switch.is_ours && switch.name.starts_with(name);
    let found: Vec<_> = SWITCHES.iter().filter(begins).collect();
    match found[..] {
        [switch] => Ok(switch),
        [] => Err(UsageError::hinted(format!("unrecognized option '--{text}'"))),
        _ => {
            let names: Vec<_> = found.iter().map(|switch| format!("'--{}'", switch.name)).collect();
            let names = names.join(" ");
            let text = format!("option '--{text}' is ambiguous; possibilities: {names}");
            Err(UsageError::hinted(text))
        }
    }
}

/// All long names.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SWITCHES.iter().map(|switch| switch.name)
}
