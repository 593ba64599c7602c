//! The figures of an external program: read in what it printed.

use dbtime_model::study::{MetricSource, ProgramMetric, ProgramRecord};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;

/// The values of metrics, by their names; one that is not there is left out.
///
/// Errors: the first metric, on which the verdicts are, is not there; why, in words.
pub(super) fn program_values(
    metrics: &[ProgramMetric],
    record: &ProgramRecord,
    output: &str,
) -> Result<BTreeMap<String, f64>, String> {
    let mut values = BTreeMap::new();
    for (at, metric) in metrics.iter().enumerate() {
        match value(&metric.source, record, output) {
            Ok(value) => {
                values.insert(metric.name.clone(), value);
            }
            Err(reason) if at == 0 => return Err(format!("no {}: {reason}", metric.name)),
            Err(_) => {}
        }
    }
    Ok(values)
}

/// Whether a figure can be read there at all.
///
/// Errors: why not, in words.
pub(super) fn check_source(source: &MetricSource) -> Result<(), String> {
    match source {
        MetricSource::Regex(pattern) => group_of(pattern).map(|_| ()),
        MetricSource::Json(path) => pointer(path).map(|_| ()),
        MetricSource::Usage(_) => Ok(()),
    }
}

fn value(source: &MetricSource, record: &ProgramRecord, output: &str) -> Result<f64, String> {
    match source {
        MetricSource::Usage(figure) => {
            record.usage(*figure).ok_or_else(|| "the kernel does not have it".to_owned())
        }
        MetricSource::Regex(pattern) => last_match(&group_of(pattern)?, output),
        MetricSource::Json(path) => of_json(&pointer(path)?, path, output),
    }
}

fn group_of(pattern: &str) -> Result<Regex, String> {
    let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
    match regex.captures_len() {
        1 => Err("it has no group: put ( ) around the number".to_owned()),
        _ => Ok(regex),
    }
}

/// Results come at the end: what is printed on the way looks alike.
fn last_match(regex: &Regex, output: &str) -> Result<f64, String> {
    let last = regex.captures_iter(output).last();
    let last = last.ok_or_else(|| format!("nothing in its output matches `{regex}`"))?;
    let text = last.get(1).map_or("", |group| group.as_str());
    number(text).ok_or_else(|| format!("`{text}`, found by `{regex}`, is no number"))
}

/// Digits may be grouped by commas.
fn number(text: &str) -> Option<f64> {
    text.trim().replace(',', "").parse::<f64>().ok().filter(|number| number.is_finite())
}

/// `a.b[0].c` as a JSON pointer (RFC 6901).
fn pointer(path: &str) -> Result<String, String> {
    let mut pointer = String::new();
    for key in path.trim_start_matches('$').trim_start_matches('.').split('.') {
        let (name, indexes) = key.split_once('[').map_or((key, ""), |(name, rest)| (name, rest));
        if !name.is_empty() {
            pointer += &format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        }
        for index in indexes.split('[').filter(|index| !index.is_empty()) {
            let index = index.strip_suffix(']').and_then(|index| index.parse::<usize>().ok());
            let index = index.ok_or_else(|| format!("`{key}` is neither a key nor key[0]"))?;
            pointer += &format!("/{index}");
        }
    }
    if pointer.is_empty() { Err("the path is empty".to_owned()) } else { Ok(pointer) }
}

/// In the whole output, or in its last line that is a JSON document with this path.
fn of_json(pointer: &str, path: &str, output: &str) -> Result<f64, String> {
    let whole = serde_json::from_str::<Value>(output).ok();
    let lines = output.lines().rev().filter(|line| line.trim_start().starts_with(['{', '[']));
    let documents = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut has_document = false;
    for document in whole.into_iter().chain(documents) {
        has_document = true;
        match document.pointer(pointer) {
            Some(Value::Number(number)) => {
                return number.as_f64().ok_or_else(|| format!("{path} is no number"));
            }
            Some(Value::String(text)) => {
                return number(text).ok_or_else(|| format!("{path}, `{text}`, is no number"));
            }
            Some(_) => return Err(format!("{path} is no number")),
            None => {}
        }
    }
    Err(match has_document {
        true => format!("{path} is not in its JSON output"),
        false => "it printed no JSON document".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::study::UsageFigure;
    use proptest::prelude::*;

    fn read(source: MetricSource, output: &str) -> Result<f64, String> {
        let record = ProgramRecord { wall_s: 2.5, ..ProgramRecord::default() };
        value(&source, &record, output)
    }

    #[test]
    fn the_last_match_of_a_pattern_is_the_figure() {
        let of = |output: &str| read(MetricSource::Regex(r"tps: ([\d.,]+|x)".to_owned()), output);
        assert_eq!(of("tps: 1\ntps: 1,234.5\n"), Ok(1234.5));
        assert!(of("nothing").expect_err("no match").contains("nothing in its output matches"));
        assert!(of("tps: x").expect_err("no number").contains("is no number"));
        let check = |pattern: &str| check_source(&MetricSource::Regex(pattern.to_owned()));
        assert!(check("tps").expect_err("no group").contains("it has no group"));
        assert!(check("(").is_err());
    }

    #[test]
    fn a_path_leads_into_the_document_or_the_last_line_that_is_one() {
        let of = |path: &str, output: &str| read(MetricSource::Json(path.to_owned()), output);
        let document = "{\"a\": {\"b\": [{\"c/d\": 3}, {\"c/d\": \"4.5\"}]}}\n";
        assert_eq!(of("a.b[0].c/d", document), Ok(3.0));
        assert_eq!(of("$.a.b[1].c/d", document), Ok(4.5));
        let log = format!("starting\n{{\"tps\": 1}}\n{{\"tps\": 2}}\n{}done\n", "{\"x\": 9}\n");
        assert_eq!(of("tps", &log), Ok(2.0));
        assert!(of("b", document).expect_err("not there").contains("is not in its JSON"));
        assert!(of("a", document).expect_err("an object").contains("is no number"));
        assert!(of("a", "text").expect_err("no document").contains("no JSON document"));
        assert!(check_source(&MetricSource::Json("a[x]".to_owned())).is_err());
        assert!(check_source(&MetricSource::Json("$".to_owned())).is_err());
    }

    #[test]
    fn what_the_first_metric_lacks_is_an_error_and_others_are_left_out() {
        let metric = |name: &str, source| ProgramMetric {
            name: name.to_owned(),
            unit: String::new(),
            is_higher_better: true,
            source,
        };
        let wall = metric("wall", MetricSource::Usage(UsageFigure::Wall));
        let rss = metric("rss", MetricSource::Usage(UsageFigure::RssPeak));
        let record = ProgramRecord { wall_s: 2.5, ..ProgramRecord::default() };
        let both = [wall.clone(), rss.clone()];
        let values = program_values(&both, &record, "").expect("the first is there");
        assert_eq!(values, BTreeMap::from([("wall".to_owned(), 2.5)]));
        let error = program_values(&[rss, wall], &record, "").expect_err("not there");
        assert_eq!(error, "no rss: the kernel does not have it");
    }

    proptest! {
        #[test]
        fn no_output_makes_the_reader_panic(output in ".*", path in "[a-c.\\[\\]0-9$]*") {
            let _ = read(MetricSource::Json(path), &output);
            let _ = read(MetricSource::Regex("([^ ]+) tps".to_owned()), &output);
        }
    }
}
