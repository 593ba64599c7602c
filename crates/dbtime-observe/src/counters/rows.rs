//! A sample of the rows that a server answers a [`CounterQuery`](super::CounterQuery) with.

use super::products::dialect;
use super::{global_status, postgres};
use dbtime_model::counters::{CounterSample, CounterValue, CounterValues};

/// A cell of a row; `None` is NULL.
pub type CounterCell = Option<String>;

/// Adds the rows of a query to a sample: `group` is that of its
/// [`CounterQuery`](super::CounterQuery), or the name of a view.
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
        insert(counters, name, value, is_gauge(name));
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
    use dbtime_model::Product;
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
