//! What was read of a server, once: rules look at nothing else.

use super::PlannedServerUse;
#[cfg(test)]
use super::check::ServerCheck;
#[cfg(test)]
use dbtime_model::doctor::DoctorFinding;
use dbtime_model::plain_text::legible_within;
use std::collections::BTreeMap;

/// Rows of a query, `None` for NULL.
pub(super) type AnswerRows = Vec<Vec<Option<String>>>;

/// The names under which a query's rows are variables and counters.
pub(super) const SETTINGS: &str = "settings";
pub(super) const COUNTERS: &str = "counters";

/// Characters of a value from the server that a reason repeats.
const VALUE_CHARS: usize = 60;

/// One look at a server. What a server has not, or does not show, is absent.
#[derive(Clone, Debug, Default)]
pub(super) struct ExaminedServer {
    /// As the server gives it.
    pub(super) version: String,
    /// Variables by their names; sizes in bytes and times in milliseconds where they have a unit.
    pub(super) settings: BTreeMap<String, String>,
    /// Where each of them was set, in PostgreSQL's words, such as `command line`.
    pub(super) sources: BTreeMap<String, String>,
    /// Status counters by their names.
    pub(super) counters: BTreeMap<String, String>,
    /// Rows of queries by their names.
    pub(super) answers: BTreeMap<&'static str, AnswerRows>,
    /// Why a query has no rows, by its name.
    pub(super) refusals: BTreeMap<&'static str, String>,
    /// Why nothing was read.
    pub(super) lost: Option<String>,
    /// Whether connections come to it over a network: neither by a Unix socket nor the loopback.
    pub(super) is_networked: bool,
    /// Whether a log of the database lies there that no process has open.
    pub(super) is_log_left: bool,
    /// The memory of its machine where that is this one. Unit: bytes.
    pub(super) memory_bytes: Option<u64>,
    /// What the clock of its machine is read from, where that is this one.
    pub(super) clock_source: Option<String>,
    /// What is going to be done to it.
    pub(super) planned: PlannedServerUse,
}

impl ExaminedServer {
    /// Takes the rows of a query.
    pub(super) fn take(&mut self, name: &'static str, rows: AnswerRows) {
        match name {
            SETTINGS => {
                self.sources = sources(&rows);
                self.settings = pairs(rows);
            }
            COUNTERS => self.counters = pairs(rows),
            _ => {
                self.answers.insert(name, rows);
            }
        }
    }

    /// A variable.
    ///
    /// Errors: why it is not known, as of all that follow.
    pub(super) fn setting(&self, name: &str) -> Result<&str, String> {
        self.known(&self.settings, SETTINGS, name)
    }

    /// A variable that is a number and not negative.
    pub(super) fn amount(&self, name: &str) -> Result<u64, String> {
        whole(name, self.setting(name)?)
    }

    /// A variable that is a number.
    pub(super) fn decimal(&self, name: &str) -> Result<f64, String> {
        let text = self.setting(name)?;
        let number = text.parse::<f64>().ok().filter(|number| number.abs() < 1e15);
        number.ok_or_else(|| no_number(name, text))
    }

    /// A variable that is on or off.
    pub(super) fn is_on(&self, name: &str) -> Result<bool, String> {
        let text = self.setting(name)?;
        match text.to_ascii_lowercase().as_str() {
            "on" | "1" | "yes" | "true" => Ok(true),
            "off" | "0" | "no" | "false" => Ok(false),
            _ => Err(format!("the server gives `{}` for {name}, neither on nor off", cut(text))),
        }
    }

    /// A status counter.
    pub(super) fn counted(&self, name: &str) -> Result<u64, String> {
        whole(name, self.known(&self.counters, COUNTERS, name)?)
    }

    /// A status variable that is a text.
    pub(super) fn status(&self, name: &str) -> Result<&str, String> {
        self.known(&self.counters, COUNTERS, name)
    }

    /// The rows of a query.
    pub(super) fn rows(&self, query: &str) -> Result<&[Vec<Option<String>>], String> {
        match self.answers.get(query) {
            Some(rows) => Ok(rows),
            None => Err(self.reason(query).unwrap_or_else(|| "was not read".to_owned())),
        }
    }

    /// A number in the first row of a query, by its column.
    pub(super) fn figure(&self, query: &str, column: usize) -> Result<u64, String> {
        let row = self.rows(query)?.first();
        let cell = row.and_then(|row| row.get(column)?.as_deref());
        whole(query, cell.ok_or_else(|| format!("the server gives no value for {query}"))?)
    }

    /// The first column of a query: names of tables, and nothing that is data.
    pub(super) fn names(&self, query: &str) -> Result<Vec<&str>, String> {
        Ok(self.rows(query)?.iter().filter_map(|row| row.first()?.as_deref()).collect())
    }

    fn known<'a>(
        &self,
        values: &'a BTreeMap<String, String>,
        query: &str,
        name: &str,
    ) -> Result<&'a str, String> {
        let missing = || format!("the server has no {name}, or does not show it");
        let value = values.get(name).map(String::as_str);
        value.ok_or_else(|| self.reason(query).unwrap_or_else(missing))
    }

    fn reason(&self, query: &str) -> Option<String> {
        self.lost.clone().or_else(|| self.refusals.get(query).cloned())
    }
}

#[cfg(test)]
impl ExaminedServer {
    /// A server with these variables and counters.
    pub(super) fn of(settings: &[(&str, &str)], counters: &[(&str, &str)]) -> Self {
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Self { settings: owned(settings), counters: owned(counters), ..Self::default() }
    }

    /// The same with a row for a query.
    pub(super) fn with_row(mut self, query: &'static str, cells: &[&str]) -> Self {
        self.take(query, vec![cells.iter().map(|cell| Some((*cell).to_owned())).collect()]);
        self
    }

    /// What the check of that name makes of it.
    pub(super) fn finding(&self, families: &[&[ServerCheck]], id: &str) -> DoctorFinding {
        let mut checks = families.iter().flat_map(|checks| checks.iter());
        checks.find(|check| check.id == id).expect("a check of that name").finding(self)
    }
}

/// Names with their values; a unit behind a value is taken into it.
fn pairs(rows: AnswerRows) -> BTreeMap<String, String> {
    let pair = |row: Vec<Option<String>>| {
        let mut cells = row.into_iter();
        let (name, value) = (cells.next()??, cells.next()?.unwrap_or_default());
        let unit = cells.next().flatten();
        Some((name, unit.and_then(|unit| scaled(&value, &unit)).unwrap_or(value)))
    };
    rows.into_iter().filter_map(pair).collect()
}

/// Names with what stands in the fourth column.
fn sources(rows: &AnswerRows) -> BTreeMap<String, String> {
    let source = |row: &Vec<Option<String>>| Some((row.first()?.clone()?, row.get(3)?.clone()?));
    rows.iter().filter_map(source).collect()
}

/// A value in a unit of PostgreSQL, such as `16384` in `8kB`, in bytes or milliseconds. `None`: it
/// stands for something else, such as -1, or is beyond all bounds.
fn scaled(value: &str, unit: &str) -> Option<String> {
    let digits = unit.find(|sign: char| !sign.is_ascii_digit())?;
    let (times, unit) = unit.split_at(digits);
    let times: u64 = if times.is_empty() { 1 } else { times.parse().ok()? };
    let size: u64 = match unit {
        "B" | "ms" => 1,
        "kB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let value: u64 = value.parse().ok()?;
    Some(value.checked_mul(times)?.checked_mul(size)?.to_string())
}

fn whole(name: &str, text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| no_number(name, text))
}

fn no_number(name: &str, text: &str) -> String {
    format!("the server gives `{}` for {name}, not a number in its range", cut(text))
}

fn cut(text: &str) -> String {
    legible_within(text, VALUE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_bytes_and_milliseconds() {
        for (value, unit, expected) in [
            ("16384", "8kB", Some("134217728")),
            ("1024", "MB", Some("1073741824")),
            ("300", "s", Some("300000")),
            ("5", "min", Some("300000")),
            ("-1", "ms", None),
            ("", "kB", None),
            ("1", "", None),
            ("1", "furlong", None),
            ("999999999999999999999999999999", "kB", None),
            ("18446744073709551615", "8kB", None),
        ] {
            assert_eq!(scaled(value, unit).as_deref(), expected, "{value} {unit}");
        }
    }

    #[test]
    fn a_setting_has_its_value_and_where_it_was_set() {
        let mut server = ExaminedServer::default();
        let row = ["fsync", "off", "", "command line"].map(|cell| Some(cell.to_owned()));
        server.take(SETTINGS, vec![row.into(), vec![Some("jit".to_owned()), None]]);
        assert_eq!(server.setting("fsync"), Ok("off"));
        assert_eq!(server.sources.get("fsync").map(String::as_str), Some("command line"));
        assert!(!server.sources.contains_key("jit"));
    }

    #[test]
    fn hostile_values_are_reasons_and_no_numbers() {
        let mut server = ExaminedServer::default();
        let hostile = ["", "-1", "999999999999999999999999999999", "1e9", "NaN", "\u{1b}[31m"];
        for value in hostile {
            server.settings.insert("x".to_owned(), value.to_owned());
            let why = server.amount("x").expect_err(value);
            assert!(why.contains("for x") && !why.contains('\u{1b}'), "{why}");
            assert!(server.is_on("x").is_err(), "{value}");
        }
        server.settings.insert("x".to_owned(), "y".repeat(10_000));
        assert!(server.amount("x").expect_err("no number").len() < 200);
        assert!(server.decimal("x").is_err() && server.decimal("absent").is_err());
        assert!(server.figure("absent", 0).is_err());
        server.take("row", vec![vec![None, Some("-7".to_owned())]]);
        assert!(server.figure("row", 0).is_err() && server.figure("row", 1).is_err());
        assert!(server.figure("row", 9).is_err());
    }

    #[test]
    fn what_was_refused_has_its_reason() {
        let mut server = ExaminedServer::default();
        server.refusals.insert(SETTINGS, "access denied".to_owned());
        assert_eq!(server.setting("x"), Err("access denied".to_owned()));
        server.lost = Some("no answer".to_owned());
        assert_eq!(server.rows("y"), Err("no answer".to_owned()));
    }
}
