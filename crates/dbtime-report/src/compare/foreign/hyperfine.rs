//! What hyperfine writes with `--export-json`: the times of each command, with the values of its
//! parameters in the name. Of a time whose command has failed nothing is known.

use super::sample::{ForeignValue, SampleKey};
use super::{ForeignError, ForeignFile, ForeignFormat};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct HyperfineDocument {
    results: Vec<HyperfineResult>,
}

#[derive(Deserialize)]
struct HyperfineResult {
    command: String,
    /// Unit: seconds.
    #[serde(default)]
    times: Vec<f64>,
    /// Of each time; `null`: a signal ended the command.
    exit_codes: Option<Vec<Option<i32>>>,
    parameters: Option<BTreeMap<String, Value>>,
}

impl HyperfineResult {
    /// The command, which is the same for all parameters where it was given a name.
    fn name(&self) -> String {
        let shown = |(name, value): (&String, &Value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        };
        let parameters: Vec<String> = self.parameters.iter().flatten().map(shown).collect();
        match parameters.is_empty() {
            true => self.command.clone(),
            false => format!("{} ({})", self.command, parameters.join(", ")),
        }
    }

    /// Whether the command has failed whose time is at this place.
    fn has_failed(&self, at: usize) -> bool {
        let code = self.exit_codes.as_ref().and_then(|codes| codes.get(at));
        code.is_some_and(|code| *code != Some(0))
    }
}

pub(super) fn read(text: &str) -> Result<ForeignFile, ForeignError> {
    let document: HyperfineDocument = serde_json::from_str(text).map_err(ForeignError::whole)?;
    let mut file = ForeignFile::new(ForeignFormat::Hyperfine);
    for (at, result) in document.results.iter().enumerate() {
        if result.times.is_empty() {
            return Err(ForeignError::whole(format!(
                "results[{at}] has no `times`: a mean alone has no spread to be compared with"
            )));
        }
        let name = result.name();
        for (time_at, time) in result.times.iter().enumerate() {
            if result.has_failed(time_at) {
                file.left_out += 1;
                continue;
            }
            let key =
                SampleKey { name: name.clone(), unit: "s".to_owned(), ..SampleKey::default() };
            let value = ForeignValue { value: *time, block: None };
            let of_result = |text: String| ForeignError::whole(format!("results[{at}]: {text}"));
            file.samples.add(key, value).map_err(of_result)?;
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_its_times() {
        let text = r#"{"results": [
            {"command": "sleep 0.1", "mean": 0.1, "times": [0.101, 0.102], "exit_codes": [0, 0]},
            {"command": "true", "times": [0.001]}
        ]}"#;
        let file = read(text).expect("JSON of hyperfine");
        let samples = file.samples.samples();
        let names: Vec<_> = samples.iter().map(|one| (&*one.key.name, &*one.key.unit)).collect();
        assert_eq!(names, [("sleep 0.1", "s"), ("true", "s")]);
        assert_eq!(samples[0].values.len(), 2);
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = read(r#"{"results": [{"command": "a", "mean": 1.0}]}"#).expect_err("no times");
        assert!(error.to_string().starts_with("results[0] has no `times`"), "{error}");
        let error = read("{\"results\": [\n{\"times\": []}]}").expect_err("no command");
        assert!(error.to_string().contains("`command` at line 2"), "{error}");
        let error =
            read(r#"{"results": [{"command": "a", "times": [-1]}]}"#).expect_err("below zero");
        assert!(error.to_string().starts_with("results[0]: -1 is no value"), "{error}");
    }

    #[test]
    fn a_password_of_a_command_is_no_part_of_its_name() {
        let command = "mysql -uroot --password=hush -e 'SELECT 1'";
        let text = format!("{{\"results\": [{{\"command\": \"{command}\", \"times\": [1]}}]}}");
        let file = read(&text).expect("JSON of hyperfine");
        let name = file.samples.samples()[0].key.shown();
        assert_eq!(name, "mysql -uroot --password=*** -e 'SELECT 1'");
    }

    #[test]
    fn a_command_that_failed_has_no_time() {
        let text = r#"{"results": [
            {"command": "a", "times": [1.0, 0.1, 0.2, 1.1], "exit_codes": [0, 1, null, 0]}
        ]}"#;
        let file = read(text).expect("JSON of hyperfine");
        let values: Vec<f64> =
            file.samples.samples()[0].values.iter().map(|one| one.value).collect();
        assert_eq!((values, file.left_out), (vec![1.0, 1.1], 2));
    }

    #[test]
    fn commands_of_one_name_are_told_apart_by_their_parameters() {
        let text = r#"{"results": [
            {"command": "a", "times": [1.0], "parameters": {"size": "1", "threads": "2"}},
            {"command": "a", "times": [2.0], "parameters": {"size": "1", "threads": 4}}
        ]}"#;
        let file = read(text).expect("JSON of hyperfine");
        let names: Vec<_> = file.samples.samples().iter().map(|one| &*one.key.name).collect();
        assert_eq!(names, ["a (size=1, threads=2)", "a (size=1, threads=4)"]);
    }
}
