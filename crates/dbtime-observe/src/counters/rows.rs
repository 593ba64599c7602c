//! Queries for a server's counters, and a sample of the rows in their answers.
//!
//! Executing them needs a login and is done elsewhere: each [`CounterQuery`], and [`add_rows`] with
//! its columns and rows.

use super::dialect::dialect;
use super::{global_status, postgres};
use dbtime_model::Product;
use dbtime_model::counters::{CounterSample, CounterValue, CounterValues};

/// A cell of a row; `None` is NULL.
pub type CounterCell = Option<String>;

/// Something to ask a server for a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterQuery {
    /// What [`add_rows`] is to be told the rows are.
    pub group: &'static str,
    /// The statement. Without parameters, read-only, and to be executed in auto-commit: within a
    /// transaction PostgreSQL answers the same again.
    pub sql: String,
    /// Whether the server may refuse it: then the sample does without the group.
    pub is_optional: bool,
}

/// Version of a server, as far as it decides what can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerVersion {
    /// 15 of 15.18, 9 of 9.6.24.
    pub major: u32,
    /// 18 of 15.18, 6 of 9.6.24.
    pub minor: u32,
}

impl ServerVersion {
    /// Reads what a server says of itself: `15.18 (Debian 15.18-0+deb12u1)`, `18beta1`,
    /// `10.11.19-MariaDB`, or `5.5.5-10.11.19-MariaDB`, as MariaDB says for old clients.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("5.5.5-").unwrap_or(text);
        let mut numbers = text.split('.').map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..end].parse().ok()
        });
        let major = numbers.next()??;
        let minor = numbers.next().flatten().unwrap_or(0);
        Some(Self { major, minor })
    }
}

/// What to ask a server of that product and version for a sample of its counters.
pub fn queries(product: Product, version: ServerVersion) -> Vec<CounterQuery> {
    match product {
        Product::Mysql | Product::Mariadb => vec![global_status::query()],
        Product::Postgres => postgres::queries(version),
        // It has no server to be asked.
        Product::Sqlite => Vec::new(),
    }
}

/// Adds the rows of a query to a sample: `group` is [`CounterQuery::group`], or the name of a view.
///
/// Shape: each row has a cell for each column; what is missing counts as NULL, what is too much is
/// left out. NULL adds nothing: it was not measured. Rows with the same key are added up.
pub fn add_rows(
    sample: &mut CounterSample,
    group: &str,
    columns: &[impl AsRef<str>],
    rows: &[Vec<CounterCell>],
) {
    let columns: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
    match group {
        global_status::GROUP => add_variables(sample, rows),
        postgres::SERVER => {
            let cell = rows.first().and_then(|row| row.first()).and_then(Option::as_ref);
            let value = cell.and_then(|text| CounterValue::parse(text).as_f64());
            sample.uptime_s = value.or(sample.uptime_s);
        }
        _ => {
            let keys = postgres::view_of(&columns).map_or(&[][..], |view| view.keys);
            rows.iter().for_each(|row| add_row(sample, group, &columns, keys, row));
        }
    }
}

/// Rows of a name and a value.
fn add_variables(sample: &mut CounterSample, rows: &[Vec<CounterCell>]) {
    let counters = sample.groups.entry(global_status::GROUP.to_owned()).or_default();
    for row in rows {
        if let [Some(name), Some(value), ..] = &row[..] {
            counters.insert(name.clone(), CounterValue::parse(value));
        }
    }
    let uptime = counters.get("Uptime").and_then(CounterValue::as_f64);
    sample.uptime_s = uptime.or(sample.uptime_s);
}

/// A row of a view, whose columns are counters.
fn add_row(
    sample: &mut CounterSample,
    view: &str,
    columns: &[&str],
    keys: &[&str],
    row: &[CounterCell],
) {
    let is_gauge = dialect(sample.source.product).is_gauge;
    let cells = || columns.iter().zip(row).filter_map(|(name, cell)| Some((*name, cell.as_ref()?)));
    let values = cells().filter(|(name, _)| !keys.contains(name));
    let values: Vec<_> = values.map(|(n, text)| (n, CounterValue::parse(text))).collect();
    if values.is_empty() {
        return;
    }
    let of = |key: &&str| Some(short(cells().find(|(name, _)| name == key)?.1));
    let key: Vec<String> = keys.iter().filter_map(of).collect();
    let group = match (keys, &key[..]) {
        ([], _) => view.to_owned(),
        (_, []) => format!("{view} (no name)"),
        (_, key) => format!("{view} ({})", key.join(", ")),
    };
    let counters = sample.groups.entry(group).or_default();
    for (name, value) in values {
        insert(counters, name, value, is_gauge(view, name));
    }
}

/// A key on one line and of bounded length: that of a statement holds its text.
fn short(key: &str) -> String {
    const LENGTH: usize = 60;
    let words: Vec<&str> = key.split_whitespace().take(LENGTH).collect();
    words.join(" ").chars().take(LENGTH).collect()
}

fn insert(counters: &mut CounterValues, name: &str, value: CounterValue, is_gauge: bool) {
    let sum = match counters.get(name) {
        Some(_) if is_gauge => return,
        Some(there) => there.plus(&value).unwrap_or(value),
        None => value,
    };
    counters.insert(name.to_owned(), sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::counters::CounterSource;
    use dbtime_model::counters::CounterValue::{Float, Unsigned};

    fn sample(product: Product) -> CounterSample {
        CounterSample::new(CounterSource { product, version: None, url: None })
    }

    fn row(cells: &[&str]) -> Vec<CounterCell> {
        let cell = |text: &&str| (*text != "NULL").then(|| (*text).to_owned());
        cells.iter().map(cell).collect()
    }

    #[test]
    fn versions_are_read_off_what_servers_say() {
        let of = |text| ServerVersion::parse(text).map(|version| (version.major, version.minor));
        assert_eq!(of("15.18 (Debian 15.18-0+deb12u1)"), Some((15, 18)));
        assert_eq!(of("9.6.24"), Some((9, 6)));
        assert_eq!(of("18beta1"), Some((18, 0)));
        assert_eq!(of("5.5.5-10.11.19-MariaDB-0+deb12u1"), Some((10, 11)));
        assert_eq!(of("5.5.9-log"), Some((5, 5)));
        assert_eq!([of(""), of("x"), of("99999999999999.1")], [None; 3]);
    }

    #[test]
    fn variables_become_counters_and_an_uptime() {
        let mut sample = sample(Product::Mariadb);
        let rows = [row(&["Questions", "7"]), row(&["Uptime", "12"]), row(&["broken"])];
        add_rows(&mut sample, global_status::GROUP, &["Variable_name", "Value"], &rows);
        assert_eq!(sample.get("global_status", "Questions"), Some(&Unsigned(7)));
        assert_eq!((sample.uptime_s, sample.count()), (Some(12.0), 2));
    }

    #[test]
    fn rows_of_a_view_are_told_apart_by_their_key() {
        let mut sample = sample(Product::Postgres);
        let columns = ["backend_type", "object", "context", "reads", "op_bytes", "fsyncs"];
        let rows = [
            row(&["client backend", "relation", "normal", "3", "8192", "NULL"]),
            row(&["client backend", "relation", "vacuum", "4", "8192", "1"]),
            row(&["client backend", "relation", "vacuum", "5", "8192"]),
        ];
        add_rows(&mut sample, "pg_stat_io", &columns, &rows);
        let of = |context: &str, name: &str| {
            sample.get(&format!("pg_stat_io (client backend, relation, {context})"), name).cloned()
        };
        assert_eq!((of("normal", "reads"), of("normal", "fsyncs")), (Some(Unsigned(3)), None));
        // Counters are added up, settings are not.
        assert_eq!(of("vacuum", "reads"), Some(Unsigned(9)));
        assert_eq!(of("vacuum", "op_bytes"), Some(Unsigned(8192)));
    }

    #[test]
    fn a_row_without_key_or_value_does_no_harm() {
        let mut sample = sample(Product::Postgres);
        add_rows(
            &mut sample,
            "pg_stat_database",
            &["datname", "xact_commit"],
            &[row(&["NULL", "5"]), row(&["NULL", "NULL"]), row(&[])],
        );
        let groups: Vec<_> = sample.groups.keys().collect();
        assert_eq!(groups, ["pg_stat_database (no name)"]);
        add_rows(&mut sample, "server", &["uptime"], &[row(&["12.5"])]);
        assert_eq!(sample.uptime_s, Some(12.5));
        add_rows(&mut sample, "server", &["uptime"], &[]);
        assert_eq!(sample.uptime_s, Some(12.5));
        assert_eq!(CounterValue::parse("12.5"), Float(12.5));
    }
}
