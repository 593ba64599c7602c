//! What a server counted while a load went on: `server.csv`, a row per sample, and what its columns
//! mean.

use super::counters::CounterUnit;
use super::folder::ReadError;
use crate::counters::CounterKind;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A counter sampled every second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledCounter {
    /// At the server, and as a column of `server.csv`.
    pub name: String,
    /// How its values are read.
    pub kind: CounterKind,
    /// Of its values.
    #[serde(default)]
    pub unit: CounterUnit,
    /// In a few words.
    #[serde(default)]
    pub meaning: String,
}

/// One sample of a server, as in `server.csv`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerSecond {
    /// When it was taken: the middle of the query, in seconds since the start of the load.
    pub at_s: f64,
    /// How long the query took, in microseconds: what sampling cost the server at most.
    pub took_us: f64,
    /// A value for each counter of the record; `None` where the server gave none.
    pub values: Vec<Option<f64>>,
}

/// `server.csv` of these samples; `None`: there are none.
pub fn text(counters: &[SampledCounter], seconds: &[ServerSecond]) -> Option<String> {
    if seconds.is_empty() {
        return None;
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = counters.iter().map(|counter| counter.name.as_str());
    writer.write_record(["at_s", "took_us"].into_iter().chain(names)).expect("to memory");
    for second in seconds {
        let head = [format!("{:.6}", second.at_s), format!("{:.3}", second.took_us)];
        let values = second.values.iter().map(|v| v.map_or(String::new(), |v| v.to_string()));
        writer.write_record(head.into_iter().chain(values)).expect("to memory");
    }
    Some(super::csv::text(writer))
}

/// Reads `server.csv`; columns are found by the names of the record's counters.
pub(super) fn read(
    text: &str,
    path: &Path,
    counters: &[SampledCounter],
) -> Result<Vec<ServerSecond>, ReadError> {
    let second = |cells: super::csv::RowCells<'_>| {
        let values = counters.iter().map(|counter| cells.number(&counter.name));
        Ok(ServerSecond {
            at_s: cells.number("at_s")?.unwrap_or(0.0),
            took_us: cells.number("took_us")?.unwrap_or(0.0),
            values: values.collect::<Result<_, _>>()?,
        })
    };
    super::csv::each_row(text, path, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_read_back_as_written_and_what_is_missing_stays_missing() {
        let counter = |name: &str| SampledCounter {
            name: name.to_owned(),
            kind: CounterKind::Counter,
            unit: CounterUnit::Count,
            meaning: String::new(),
        };
        let counters = ["pages_flushed", "history"].map(counter);
        let seconds = [
            ServerSecond { at_s: 0.25, took_us: 812.5, values: vec![Some(7.0), None] },
            ServerSecond { at_s: 1.25, took_us: 900.0, values: vec![Some(9_007_199.0), Some(1.5)] },
        ];
        let text = text(&counters, &seconds).expect("two rows");
        assert!(text.starts_with("at_s,took_us,pages_flushed,history\n0.250000,812.500,7,\n"));
        assert_eq!(read(&text, Path::new("server.csv"), &counters).expect("rows"), seconds);
        assert_eq!(super::text(&counters, &[]), None);
        let broken = text.replace("900.000", "x");
        let error = read(&broken, Path::new("server.csv"), &counters).expect_err("no number");
        assert!(error.to_string().contains("server.csv, line 3: `x` in column took_us"), "{error}");
    }
}
