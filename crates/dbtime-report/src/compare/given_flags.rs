//! What runs were given that nothing else in their records tells: the rest of their specs. A flag
//! that is new is in it by itself.

use crate::format::NONE;
use dbtime_model::record::RunRecord;
use dbtime_model::secret_text::without_secrets;
use dbtime_model::spec::RunSpec;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Fields of a spec, by group, of which the rest of a record tells how they came out.
const RECORDED: [(&str, &[&str]); 5] = [
    ("", &["schema", "seed"]),
    ("workload", &["name", "query", "scale", "sha256"]),
    (
        "target",
        &[
            "url",
            "protocol",
            "pipeline",
            "reconnect",
            "statement_timeout",
            "network_delay",
            "network_rate",
            "server_set",
        ],
    ),
    (
        "load",
        &[
            "rate",
            "flat_out",
            "arrivals",
            "jitter",
            "connections",
            "workers",
            "think",
            "on_backlog",
            "shards",
        ],
    ),
    ("window", &["warmup", "time"]),
];

/// By name, as text, those of a later version too; `None` where the record has no spec, or one in
/// another notation.
pub(super) fn given_flags(record: &RunRecord) -> Option<BTreeMap<String, String>> {
    let (spec, written) = (record.known_spec()?, record.spec.as_ref()?);
    let mut given: BTreeMap<String, String> = fields(written)
        .into_iter()
        .chain(fields(spec))
        .filter(|(group, field, _)| !is_recorded(group, field))
        .map(|(group, field, value)| (name(&group, &field), text(&value)))
        .collect();
    given.extend(unread_settings(spec, record));
    Some(given)
}

/// Group, name and value of each field; those of none are in a group without a name.
fn fields(spec: &impl Serialize) -> Vec<(String, String, Value)> {
    let Ok(Value::Object(groups)) = serde_json::to_value(spec) else { return Vec::new() };
    let of_group = |(group, value): (String, Value)| match value {
        Value::Object(fields) => {
            let field = |(field, value): (String, Value)| (group.clone(), field, value);
            fields.into_iter().map(field).collect::<Vec<_>>()
        }
        value => vec![(String::new(), group, value)],
    };
    groups.into_iter().flat_map(of_group).collect()
}

fn is_recorded(group: &str, field: &str) -> bool {
    RECORDED.iter().any(|(of, fields)| *of == group && fields.contains(&field))
}

fn name(group: &str, field: &str) -> String {
    format!("{group} {}", field.replace('_', " ")).trim_start().to_owned()
}

fn text(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => without_secrets(text).into_owned(),
        Value::Array(values) if !values.is_empty() => {
            values.iter().map(text).collect::<Vec<_>>().join(" ")
        }
        _ => NONE.to_owned(),
    }
}

/// Settings of a private server that were not read back from it.
fn unread_settings(spec: &RunSpec, record: &RunRecord) -> impl Iterator<Item = (String, String)> {
    let same = |name: &str| name.to_lowercase().replace('-', "_");
    let is_read = move |name: &str| {
        record.target.settings.keys().any(|read| same(read.as_str()) == same(name))
    };
    spec.target.server_set.iter().filter_map(move |pair| {
        let pair = without_secrets(pair);
        let (name, value) = pair.split_once('=').filter(|(name, _)| !is_read(name))?;
        Some((format!("server-set {name}"), value.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::setup;
    use super::*;
    use dbtime_model::record::RecordedSpec;
    use dbtime_model::spec::WorkloadLimit;

    fn with(change: impl FnOnce(&mut RunSpec)) -> RunRecord {
        let mut spec = RunSpec::default();
        change(&mut spec);
        RunRecord { spec: Some(spec.into()), ..RunRecord::default() }
    }

    fn differing(a: &RunRecord, b: &RunRecord) -> Vec<String> {
        let (pairs, _) = setup::settings(a, b);
        pairs.iter().map(|pair| format!("{}: {}, {}", pair.name, pair.a, pair.b)).collect()
    }

    #[test]
    fn what_the_spec_alone_tells_is_compared() {
        let mut a = with(|spec| {
            spec.load.client_cpus = "0-1".parse().ok();
            spec.target.server_set = vec!["flush=1".to_owned(), "Not-read=a=b".to_owned()];
        });
        let b = with(|spec| {
            spec.window.trace = true;
            let limit = |text: &str| text.parse::<WorkloadLimit>().expect(text);
            spec.limits = vec![limit("p90<=5ms"), limit("avg<=1ms")];
        });
        a.target.settings.insert("flush".to_owned(), "1".to_owned());
        assert_eq!(
            differing(&a, &b),
            [
                "limits: –, p90<=5ms avg<=1ms",
                "load client cpus: 0-1, –",
                "server-set Not-read: a=b, –",
                "setting flush: 1, –",
                "window trace: –, yes",
            ]
        );
        a.target.settings.insert("not_read".to_owned(), "a=b".to_owned());
        assert!(!differing(&a, &b).iter().any(|line| line.starts_with("server-set")));
    }

    #[test]
    fn where_a_record_has_no_spec_that_is_known_nothing_of_it_differs() {
        let traced = with(|spec| spec.window.trace = true);
        let unknown = RecordedSpec::Unknown(Value::from("of a later version"));
        for spec in [None, Some(unknown)] {
            let other = RunRecord { spec, ..RunRecord::default() };
            assert_eq!(differing(&traced, &other), Vec::<String>::new());
        }
    }

    #[test]
    fn what_a_later_version_was_given_differs() {
        let later = r#"{"load":{"isolation":"none","no":null},"on":true}"#;
        let spec: Option<RecordedSpec> = serde_json::from_str(later).expect("a spec");
        let later = RunRecord { spec, ..RunRecord::default() };
        let known = with(|_| ());
        assert_eq!(differing(&later, &known), ["load isolation: none, –", "on: yes, –"]);
    }

    /// Else what a field is renamed to would be told twice.
    #[test]
    fn what_is_told_elsewhere_is_a_field() {
        let fields = fields(&RunSpec::default());
        for (group, recorded) in RECORDED {
            for field in recorded {
                let is_it = |(of, name, _): &(String, String, Value)| of == group && name == field;
                assert!(fields.iter().any(is_it), "{group}.{field}");
            }
        }
    }
}
