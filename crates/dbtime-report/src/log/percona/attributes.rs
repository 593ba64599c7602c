//! The figures of a class as lines of a table, in cells of seven columns.

use super::{SECOND_US, right};
use crate::format::{clean, finite, if_any};
use crate::log::{figure_mean, unit_of};
use dbtime_model::log_digest::{
    DigestClass, DigestTimes, FigureSummary, LogFigureUnit, PerconaStatistics,
};
use dbtime_model::units::three_digits;

/// The headings of the cells.
pub(super) const ATTRIBUTES: [&str; 7] = ["total", "min", "max", "avg", "95%", "stddev", "median"];

/// Columns of a name.
const NAME_COLUMNS: usize = 12;

/// A line of the table.
pub(super) struct AttributeLine {
    /// What it is of.
    pub(super) name: String,
    /// The sum over all records, in the unit of the figure; times are microseconds.
    pub(super) total: f64,
    /// In the order of [`ATTRIBUTES`].
    values: [Option<f64>; 7],
    unit: LogFigureUnit,
}

impl AttributeLine {
    /// The cells.
    pub(super) fn cells(&self) -> String {
        let shown = |value: Option<f64>| right(&if_any(value, |value| self.shown(value)));
        self.values.map(shown).join(" ")
    }

    fn shown(&self, value: f64) -> String {
        match self.unit {
            LogFigureUnit::Time => short_time(value),
            LogFigureUnit::Bytes | LogFigureUnit::Count | LogFigureUnit::Flag => {
                short_number(value)
            }
        }
    }
}

/// Durations first, then all figures that are no flags.
pub(super) fn attribute_lines(class: &DigestClass) -> Vec<AttributeLine> {
    let figures = class.figures.iter().filter(|(name, _)| unit_of(name) != LogFigureUnit::Flag);
    let figures = figures.map(|(name, figure)| figure_line(class, name, figure));
    class.times.iter().map(time_line).chain(figures).collect()
}

/// The share of records that have a flag set, by its name.
pub(super) fn flag_shares(class: &DigestClass) -> Vec<(String, f64)> {
    let flags = class.figures.iter().filter(|(name, _)| unit_of(name) == LogFigureUnit::Flag);
    flags.map(|(name, figure)| (title(name), figure_mean(class, figure))).collect()
}

fn time_line(times: &DigestTimes) -> AttributeLine {
    let (p95, median) = match times.percona {
        Some(percona) => (percona.p95, percona.median),
        None => (times.p95_us, times.p50_us),
    };
    let values = [
        times.total_us,
        times.min_us,
        times.max_us,
        times.mean_us,
        p95,
        deviation_us(times),
        median,
    ];
    AttributeLine {
        name: "Exec time".to_owned(),
        total: times.total_us,
        values: values.map(Some),
        unit: LogFigureUnit::Time,
    }
}

fn figure_line(class: &DigestClass, name: &str, figure: &FigureSummary) -> AttributeLine {
    let (p95, deviation, median) = match figure.percona {
        Some(PerconaStatistics { median, p95, stddev }) => (p95, Some(stddev), median),
        None => (figure.p95, None, figure.p50),
    };
    let values = [
        Some(figure.total),
        Some(figure.min),
        Some(figure.max),
        Some(figure_mean(class, figure)),
        Some(p95),
        deviation,
        Some(median),
    ];
    AttributeLine { name: title(name), total: figure.total, values, unit: unit_of(name) }
}

/// The standard deviation of durations: as Percona's tools have it, or of the durations themselves.
pub(super) fn deviation_us(times: &DigestTimes) -> f64 {
    let from_squares = || {
        let count = times.total_us / times.mean_us;
        let variance = times.squares_us2 / count - times.mean_us * times.mean_us;
        finite(variance).max(0.0).sqrt()
    };
    times.percona.map_or_else(from_squares, |percona| percona.stddev)
}

/// The name of a figure as a heading: `Rows examine`.
fn title(name: &str) -> String {
    let text = clean(name).replace('_', " ");
    let mut signs = text.chars();
    let first = signs.next().into_iter().flat_map(char::to_uppercase);
    first.chain(signs).take(NAME_COLUMNS).collect()
}

/// Microseconds in at most seven columns.
fn short_time(us: f64) -> String {
    match finite(us) {
        0.0 => "0".to_owned(),
        us if us < 0.9995 => format!("{:.0}ns", us * 1e3),
        us if us < 999.5 => format!("{}us", three_digits(us)),
        us if us < 999.5e3 => format!("{}ms", three_digits(us / 1e3)),
        us if us < 1e6 * SECOND_US => format!("{}s", three_digits(us / SECOND_US)),
        us => format!("{:.0e}s", us / SECOND_US),
    }
}

/// A number as pt-query-digest has it, in units of 1,024: `812`, `1.50`, `12.06k`.
fn short_number(value: f64) -> String {
    const UNITS: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    let (mut short, mut step) = (finite(value).max(0.0), 0);
    while short >= 1024.0 && step + 1 < UNITS.len() {
        short /= 1024.0;
        step += 1;
    }
    match step {
        _ if short >= 1024.0 => format!("{value:.0e}"),
        0 if short.fract() == 0.0 => format!("{short:.0}"),
        _ => format!("{short:.2}{}", UNITS[step]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_short() {
        let times = [0.0, 0.5, 67.0, 1240.0, 9.9e7, 2.823e9, 1e20, f64::NAN].map(short_time);
        assert_eq!(times, ["0", "500ns", "67.0us", "1.24ms", "99.0s", "2820s", "1e14s", "0"]);
        let numbers = [0.0, 812.0, 1.5, 12_345.0, 999_600.0, 1.38e9, 1e30].map(short_number);
        assert_eq!(numbers, ["0", "812", "1.50", "12.06k", "976.17k", "1.29G", "1e30"]);
    }

    #[test]
    fn names_are_cut_to_their_column() {
        assert_eq!([title("rows_examined"), title("lock_time")], ["Rows examine", "Lock time"]);
        assert_eq!(unit_of("rows_sent"), LogFigureUnit::Count);
        assert_eq!(unit_of("of_another_version"), LogFigureUnit::Count);
    }
}
