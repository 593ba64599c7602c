//! Which field of a run's written form has a value of a wrong type, and what it takes.

use super::RunSpec;
use serde::Deserialize;
use serde_json::Value;

/// The way from a value to one in it.
#[derive(Clone, Debug)]
enum FieldStep {
    Name(String),
    Place(usize),
}

/// A value that cannot be read, and why.
struct WrongValue<'a> {
    step: FieldStep,
    value: &'a Value,
    error: serde_json::Error,
}

/// What is wrong with the first field that cannot be read, by its path; `None`: each can be read
/// where it stands alone.
pub(super) fn wrong_field(spec: &Value) -> Option<String> {
    let (mut steps, mut within, mut cause) = (Vec::new(), spec, None);
    while let Some(WrongValue { step, value, error }) = wrong_child(&steps, within) {
        steps.push(step);
        (within, cause) = (value, Some(error.to_string()));
    }
    Some(sentence(&path(&steps), &cause?))
}

/// The first of the values in a value with which, and with nothing else, a spec cannot be read.
fn wrong_child<'a>(steps: &[FieldStep], within: &'a Value) -> Option<WrongValue<'a>> {
    let children: Vec<(FieldStep, &'a Value)> = match within {
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (FieldStep::Name(name.clone()), value)).collect()
        }
        Value::Array(values) => {
            values.iter().enumerate().map(|(at, value)| (FieldStep::Place(at), value)).collect()
        }
        _ => return None,
    };
    children.into_iter().find_map(|(step, value)| {
        let alone = steps.iter().chain([&step]).rev().fold(value.clone(), wrapped);
        let error = RunSpec::deserialize(alone).err()?;
        Some(WrongValue { step, value, error })
    })
}

/// A value with nothing beside it.
fn wrapped(value: Value, step: &FieldStep) -> Value {
    match step {
        FieldStep::Name(name) => Value::Object([(name.clone(), value)].into_iter().collect()),
        FieldStep::Place(_) => Value::Array(vec![value]),
    }
}

/// `load.connections`, `limits[1]`.
fn path(steps: &[FieldStep]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            FieldStep::Name(name) if path.is_empty() => path += name,
            FieldStep::Name(name) => path += &format!(".{name}"),
            FieldStep::Place(at) => path += &format!("[{at}]"),
        }
    }
    path
}

fn sentence(path: &str, cause: &str) -> String {
    let of_type = ["invalid type: ", "invalid value: "].into_iter().find_map(|kind| {
        let (flag, rest) = cause.split_once(kind)?;
        // A text may quote the same words.
        let is_of_serde = flag.is_empty() || flag.starts_with("--") && !flag.contains('`');
        rest.rsplit_once(", expected ").filter(|_| is_of_serde)
    });
    match of_type {
        Some((found, expected)) => {
            let takes = match expected {
                "u32" | "u64" => flag_words(path).unwrap_or_else(|| expected_words(expected)),
                _ => expected_words(expected),
            };
            format!("`{path}` is {}, and takes {takes}", found_words(found))
        }
        None if cause.starts_with("--") => cause.to_owned(),
        None => format!("`{path}`: {cause}"),
    }
}

/// What stands there.
fn found_words(found: &str) -> String {
    let number = found.strip_prefix("integer ").or(found.strip_prefix("floating point "));
    match (found, number, found.strip_prefix("string "), found.strip_prefix("boolean ")) {
        (_, Some(number), _, _) => format!("the number {number}"),
        (_, _, Some(text), _) => format!("the text {text}"),
        (_, _, _, Some(switch)) => switch.to_owned(),
        ("map", ..) => "a group of fields".to_owned(),
        ("sequence", ..) => "a list".to_owned(),
        _ => found.to_owned(),
    }
}

/// Which numbers the flag of a field's name takes: its type alone would take others too. `None`:
/// there is no such flag.
fn flag_words(path: &str) -> Option<String> {
    let name = path.rsplit_once('.').map_or(path, |(_, name)| name).replace('_', "-");
    let refused = RunSpec::default().set(&name, "").err()?.to_string();
    refused.strip_prefix("it takes ").map(str::to_owned)
}

/// What its type is, for people.
fn expected_words(expected: &str) -> String {
    match expected {
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => format!("a whole number from 0 to {}", u64::MAX),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        of_fields if of_fields.starts_with("struct ") => "fields by their names".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::SpecDocument;

    #[test]
    fn a_value_of_a_wrong_type_is_named_by_its_path() {
        for (text, wrong) in [
            (
                r#"{"load":{"connections":"16"}}"#,
                "`load.connections` is the text \"16\", and takes a whole number from 1 to 100000",
            ),
            (
                r#"{"load":{"shards":1.5}}"#,
                "`load.shards` is the number `1.5`, and takes a whole number from 1 to 64, such as",
            ),
            (
                r#"{"window":{"transactions":true}}"#,
                "`window.transactions` is `true`, and takes a whole number from 1 up, such as",
            ),
            (
                r#"{"workload":{"data_seed":true}}"#,
                "`workload.data_seed` is `true`, and takes a whole number from 0 up, such as",
            ),
            (r#"{"schema":true}"#, "`schema` is `true`, and takes a whole number from 0 to"),
            (r#"{"load":{"workers":-3}}"#, "`load.workers` is the number `-3`, and takes a whole"),
            (r#"{"load":{"rate":5}}"#, "`load.rate` is the number `5`, and takes a text"),
            (r#"{"target":{"pipeline":"yes"}}"#, "`target.pipeline` is the text \"yes\", and"),
            (r#"{"target":{"server_set":["a=1",2]}}"#, "`target.server_set[1]` is the number `2`"),
            (r#"{"workload":{"script_set":"a=1"}}"#, "`workload.script_set` is the text \"a=1\""),
            (r#"{"window":{"time":20}}"#, "`window.time` is the number `20`, and takes a text"),
            (r#"{"window":7}"#, "`window` is the number `7`, and takes fields by their names"),
            (r#"{"limits":"p90<=1ms"}"#, "`limits` is the text \"p90<=1ms\", and takes a list"),
            (r#"{"seed":1.5}"#, "`seed` is the number `1.5`, and takes a whole number"),
            (r#"{"load":{"flat_out":{"share_pct":true}}}"#, "`load.flat_out.share_pct` is `true`"),
            (r#"{"target":{"network_rate":"fast"}}"#, "`target.network_rate`: `fast` is no"),
        ] {
            for document in [text.to_owned(), format!("{{\"command\":\"x\",\"spec\":{text}}}")] {
                let refused = SpecDocument::read(&document).expect_err(text).to_string();
                assert!(refused.starts_with(wrong), "{text}: {refused}");
            }
        }
    }

    /// Words of an error in a value are not taken for one.
    #[test]
    fn a_text_that_quotes_an_error_is_quoted() {
        let text = r#"{"load":{"rate":"invalid type: a, expected b"}}"#;
        let refused = SpecDocument::read(text).expect_err("no rate").to_string();
        assert!(refused.starts_with("--rate: `invalid type` is no duration"), "{refused}");
    }
}
