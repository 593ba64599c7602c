//! One notation for values that can be written in several: to be compared, and never to be shown or
//! run.

use super::{RunSpec, WorkloadLimit};

impl RunSpec {
    /// The run with one notation for each of its values. Two runs that are the same, however each
    /// was written, are equal then.
    #[must_use]
    pub fn in_one_notation(mut self) -> Self {
        self.target.url = target(&self.target.url);
        self.target.server_set.iter_mut().for_each(|pair| *pair = server_setting(pair));
        self.limits.iter_mut().for_each(|limit| limit.text = limit_text(limit));
        let paths = [&mut self.workload.name, &mut self.workload.script];
        for path in paths.into_iter().chain([&mut self.target.server_data]).flatten() {
            *path = path_text(path).to_owned();
        }
        self
    }
}

/// A word alone may be the name of a shipped workload, and `./atm` a file.
fn path_text(path: &str) -> &str {
    let rest = path.trim_start_matches("./");
    if rest.contains(['/', '.']) { rest } else { path }
}

/// `sqlite:` is `sqlite`, `sqlite:./a.db` is `sqlite:a.db`, and `postgresql://` is `postgres://`.
fn target(url: &str) -> String {
    if let Some(rest) = url.strip_prefix("postgresql://") {
        return format!("postgres://{rest}");
    }
    if let Some(path) = url.strip_prefix("sqlite:./") {
        return format!("sqlite:{}", path.trim_start_matches("./"));
    }
    for word in ["sqlite", "null"] {
        let rest = url.strip_prefix(word).map(|rest| rest.trim_start_matches(':'));
        match rest {
            Some("" | "?") => return word.to_owned(),
            Some(rest) if rest.starts_with('?') => return format!("{word}{rest}"),
            _ => {}
        }
    }
    url.to_owned()
}

/// Servers take `-` for `_` in names of settings, and sizes with a unit.
fn server_setting(pair: &str) -> String {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let (name, value) = (name.trim().to_ascii_lowercase().replace('-', "_"), value.trim());
    let word = value.to_ascii_lowercase();
    let is_switch = ["on", "off", "true", "false"].contains(&word.as_str());
    let value = if is_switch { word } else { size(value).unwrap_or_else(|| value.to_owned()) };
    format!("{name}={value}")
}

/// A size in bytes, by the units of MySQL (`1G`), whose numbers alone are bytes, or of PostgreSQL
/// (`1GB`), whose are not.
fn size(text: &str) -> Option<String> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let (kilos, unit) = match &text[number.len()..] {
        "k" | "K" => (1, ""),
        "m" | "M" => (2, ""),
        "g" | "G" => (3, ""),
        "kB" => (1, "B"),
        "MB" => (2, "B"),
        "GB" => (3, "B"),
        "TB" => (4, "B"),
        _ => return None,
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(1024u64.pow(kilos))?;
    Some(format!("{bytes}{unit}"))
}

fn limit_text(limit: &WorkloadLimit) -> String {
    format!("{} {}", limit.metric, limit.required_text())
}
