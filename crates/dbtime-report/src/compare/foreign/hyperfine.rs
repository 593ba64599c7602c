//! What hyperfine writes with `--export-json`: the times of each command.

use super::sample::{ForeignValue, SampleKey};
use super::{ForeignError, ForeignFile, ForeignFormat};
use dbtime_model::secret_text::script_without_secrets;
use serde::Deserialize;

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
        // Reports are passed on.
        let name = script_without_secrets(&result.command);
        for time in &result.times {
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
        let name = &file.samples.samples()[0].key.name;
        assert!(name.starts_with("mysql ") && !name.contains("hush"), "{name}");
    }
}
