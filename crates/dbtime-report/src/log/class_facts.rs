//! What is known of a class in words: how often, how long, whose, and in which two groups.

use super::class_details::figure_text;
use super::{instant_text, unit_of};
use crate::document::ReportDocument;
use crate::format::{count, counted, one_line, percent, us};
use crate::terminal::TextRole;
use dbtime_model::log_digest::{
    ClassGroups, DigestClass, DigestTimes, GroupDifference, LogFigureUnit, NamedCount,
    SessionRepeats,
};

/// All that is known in words.
pub(super) fn facts(class: &DigestClass, document: &mut ReportDocument) {
    let mut fact = |name: &str, text: String| document.fact(name, &text, TextRole::Plain);
    if let Some(ids) = ids(class) {
        fact("id", ids);
    }
    fact("count", how_often(class));
    if let Some(times) = &class.times {
        fact("times", durations(times));
    }
    if let (Some(first), Some(last)) = (class.first_us, class.last_us) {
        fact("when", format!("{} to {}", instant_text(first), instant_text(last)));
    }
    for (name, names) in [
        ("users", &class.users),
        ("databases", &class.databases),
        ("hosts", &class.hosts),
        ("processes", &class.processes),
    ] {
        if !names.is_empty() {
            fact(name, named(names));
        }
    }
    if let Some(groups) = &class.groups {
        fact("two groups", two_groups(groups));
    }
    if let Some(repeats) = &class.repeats {
        fact("repeated", repeated(repeats));
    }
}

/// The IDs of a class: dbtime's own, unless Percona's is the same, Percona's, the server's.
fn ids(class: &DigestClass) -> Option<String> {
    let own = Some(&class.id).filter(|id| !id.is_empty() && class.percona_id.as_ref() != Some(*id));
    let own = own.map(|id| one_line(id));
    let percona = class.percona_id.as_ref().map(|id| format!("{} (Percona)", one_line(id)));
    let of_server = Some(&class.query_ids).filter(|ids| !ids.is_empty()).map(|ids| {
        let ids: Vec<String> = ids.iter().map(|id| one_line(id)).collect();
        format!("{} (query_id)", ids.join(" "))
    });
    let ids: Vec<String> = [own, percona, of_server].into_iter().flatten().collect();
    Some(ids.join(", ")).filter(|ids| !ids.is_empty())
}

fn how_often(class: &DigestClass) -> String {
    let mut text = counted(class.count, class.kind.noun());
    if class.logged < class.count {
        text += &format!(", estimated from {}", counted(class.logged, "record"));
    }
    text += &failed(class);
    if !class.error_codes.is_empty() {
        text += &format!(": {}", named(&class.error_codes));
    }
    text
}

/// How many records failed, behind their number; empty: none, or the log does not show it.
pub(super) fn failed(class: &DigestClass) -> String {
    let Some(errors) = class.errors.filter(|errors| *errors > 0) else { return String::new() };
    let share = errors as f64 / class.count.max(1) as f64 * 100.0;
    format!(", {} failed ({})", count(errors), percent(share))
}

/// The percentiles of durations, unless all are the same.
fn durations(times: &DigestTimes) -> String {
    if times.min_us == times.max_us {
        return us(times.max_us);
    }
    let figures = [
        ("mean", times.mean_us),
        ("min", times.min_us),
        ("p50", times.p50_us),
        ("p90", times.p90_us),
        ("p95", times.p95_us),
        ("p99", times.p99_us),
        ("p99.9", times.p999_us),
        ("max", times.max_us),
    ];
    figures.map(|(name, value)| format!("{name} {}", us(value))).join(", ")
}

/// Names with their counts.
pub(super) fn named(names: &[NamedCount]) -> String {
    let one = |named: &NamedCount| format!("{} ({})", one_line(&named.name), count(named.count));
    names.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn two_groups(groups: &ClassGroups) -> String {
    let mut text = format!(
        "{} around {} and {} around {}",
        count(groups.lower_count),
        us(groups.lower_us),
        count(groups.higher_count),
        us(groups.higher_us)
    );
    if let Some(difference) = &groups.difference {
        text += &format!("; what differs most, faster first: {}", difference_text(difference));
    }
    text
}

/// A figure with its typical values: `rows_examined 12 against 90,112`.
fn difference_text(difference: &GroupDifference) -> String {
    let unit = unit_of(&difference.figure);
    let [lower, higher] = [difference.lower, difference.higher].map(|value| match unit {
        LogFigureUnit::Flag => percent(value * 100.0),
        unit => figure_text(unit, value),
    });
    format!("{} {lower} against {higher}", one_line(&difference.figure))
}

fn repeated(repeats: &SessionRepeats) -> String {
    format!(
        "{} in {} (ten or more in a row by one session), the longest {}; {} identical to an \
         earlier one: one for each row of another result (N+1)?",
        count(repeats.count),
        counted(repeats.rows, "streak"),
        count(repeats.longest),
        count(repeats.identical)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::log_digest::FineHistogram;

    #[test]
    fn a_class_is_told_by_all_of_its_ids() {
        let class = DigestClass {
            id: "A1".to_owned(),
            percona_id: Some("B2".to_owned()),
            query_ids: vec!["7".to_owned(), "-8".to_owned()],
            ..DigestClass::default()
        };
        assert_eq!(ids(&class).as_deref(), Some("A1, B2 (Percona), 7 -8 (query_id)"));
        let same = DigestClass { id: "B2".to_owned(), ..class };
        assert_eq!(ids(&same).as_deref(), Some("B2 (Percona), 7 -8 (query_id)"));
        assert_eq!(ids(&DigestClass::default()), None);
    }

    #[test]
    fn equal_durations_are_one_figure() {
        let of = |min_us: f64| DigestTimes {
            total_us: 14e3,
            mean_us: 7e3,
            min_us,
            p50_us: 7e3,
            p90_us: 7e3,
            p95_us: 7e3,
            p99_us: 7e3,
            p999_us: 7e3,
            max_us: 7e3,
            squares_us2: 98e6,
            histogram: FineHistogram::default(),
            percona: None,
        };
        assert_eq!(durations(&of(7e3)), "7.00 ms");
        assert!(durations(&of(6e3)).contains("min 6.00 ms, p50 7.00 ms"));
    }

    #[test]
    fn what_differs_is_in_its_unit() {
        let text = |figure: &str, lower, higher| {
            difference_text(&GroupDifference { figure: figure.to_owned(), lower, higher })
        };
        assert_eq!(text("rows_examined", 12.0, 90_112.0), "rows_examined 12 against 90,112");
        assert_eq!(text("lock_time", 0.0, 1500.0), "lock_time 0 ns against 1.50 ms");
        assert_eq!(text("full_scan", 0.0, 1.0), "full_scan 0 % against 100 %");
    }

    #[test]
    fn failures_that_the_log_does_not_show_are_not_none() {
        let class = |errors| DigestClass { count: 2, logged: 2, errors, ..DigestClass::default() };
        assert_eq!(failed(&class(Some(1))), ", 1 failed (50 %)");
        assert_eq!([None, Some(0)].map(|errors| failed(&class(errors))), ["", ""]);
    }

    #[test]
    fn estimates_and_failures_are_named() {
        let class = DigestClass {
            count: 200,
            logged: 20,
            errors: Some(4),
            error_codes: vec![NamedCount { name: "1213".to_owned(), count: 4 }],
            ..DigestClass::default()
        };
        let text = "200 statements, estimated from 20 records, 4 failed (2.0 %): 1213 (4)";
        assert_eq!(how_often(&class), text);
    }
}
