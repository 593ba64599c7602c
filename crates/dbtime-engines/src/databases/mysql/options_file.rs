//! `~/.my.cnf`: options by group, as MySQL's own clients read them.
//!
//! Source: MySQL reference manual, "Using Option Files". `!include` is not followed.

use std::collections::HashMap;

/// Groups that a client other than `mysql` itself reads.
const GROUPS: [&str; 4] = ["client", "client-mariadb", "client-server", "dbtime"];

/// Options of the groups above; the last one of a name counts. `None`: it stands there without a
/// value.
#[derive(Clone, Debug, Default)]
pub(super) struct MysqlClientOptions(HashMap<String, Option<String>>);

impl MysqlClientOptions {
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned().flatten()
    }

    /// The value of an option that is on where only its name stands.
    pub(super) fn switch(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| value.clone().unwrap_or_else(|| "on".to_owned()))
    }
}

pub(super) fn parse(text: &str) -> MysqlClientOptions {
    let mut options = HashMap::new();
    let mut is_ours = false;
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            is_ours = GROUPS.contains(&group.trim());
            continue;
        }
        if !is_ours || line.is_empty() || line.starts_with(['#', ';', '!']) {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, Some(value_of(value.trim()))),
            None => (line.split(" #").next().unwrap_or(line), None),
        };
        options.insert(name.trim().replace('_', "-").to_ascii_lowercase(), value);
    }
    MysqlClientOptions(options)
}

/// Quotes keep blanks and `#`; backslashes stand before some letters; a comment may follow.
fn value_of(text: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            return unescaped(rest.split(quote).next().unwrap_or(rest));
        }
    }
    unescaped(text.split(" #").next().unwrap_or(text).trim_end())
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('b') => out.push('\u{8}'),
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('s') => out.push(' '),
            Some('\\') => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_clients_are_read() {
        let text = "[mysqld]\nuser=mysql\n# x\n[client]\nuser = me # a comment\n\
                    password='a \"b\" # c'\n[dbtime]\nhost=h\\sx\nno_value # on\n";
        let options = parse(text);
        assert_eq!(options.get("user").as_deref(), Some("me"));
        assert_eq!(options.get("password").as_deref(), Some("a \"b\" # c"));
        assert_eq!(options.get("host").as_deref(), Some("h x"));
        assert_eq!(options.get("no-value"), None);
        assert_eq!(options.switch("no-value").as_deref(), Some("on"));
        assert_eq!(options.switch("host").as_deref(), Some("h x"));
        assert_eq!(options.switch("x"), None);
    }
}
