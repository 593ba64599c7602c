//! The written form of a run: everything that it is made from, so that it can be kept, edited,
//! handed to another process and run again.
//!
//! A value has the notation of the flag of its name: `"500/s"`, `"20s"`, `"p90<=5ms"`. What is left
//! out has the flag's default. Passwords are never part of it.

use super::wrong_field::wrong_field;
use super::{LoadSpec, TargetSpec, WindowSpec, WorkloadLimit, WorkloadSpec, of_flag};
use crate::secret_text::without_secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the written form that this program writes.
pub(crate) const SPEC_SCHEMA: u32 = 1;

/// One run, as written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSpec {
    /// Version of the written form.
    pub schema: u32,
    /// What is run.
    pub workload: WorkloadSpec,
    /// Against what, and how it is reached or started.
    pub target: TargetSpec,
    /// How the load is made.
    pub load: LoadSpec,
    /// What is measured.
    pub window: WindowSpec,
    /// Requirements beyond the workload's own, such as `p90<=5ms`.
    #[serde(deserialize_with = "of_flag::limits")]
    pub limits: Vec<WorkloadLimit>,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            schema: SPEC_SCHEMA,
            workload: WorkloadSpec::default(),
            target: TargetSpec::default(),
            load: LoadSpec::default(),
            window: WindowSpec::default(),
            limits: Vec::new(),
            seed: 1,
        }
    }
}

/// What a file with the written form of a run holds.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecDocument {
    /// The run.
    pub spec: RunSpec,
    /// The command that it was made by, where the file is the record of a run.
    pub command: Option<String>,
}

/// Why a text is no written form of a run.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// No JSON.
    #[error("{}", cause_without_secrets(.0))]
    Json(#[from] serde_json::Error),
    /// A field whose value cannot be read, which may be a target in the wrong place.
    #[error("{}", without_secrets(.0))]
    Field(String),
    /// A field that there is none of, by its path.
    #[error("there is no field `{0}`; `dbtime run --print-spec` shows all there are")]
    Unknown(String),
    /// A field of a record that a later dbtime has written, and without which it would be another
    /// run, by its path.
    #[error(
        "the run has `{0}`, which this dbtime does not know: repeat it with the newer dbtime that \
         wrote the record"
    )]
    Later(String),
    /// A number that the flag of its name refuses, or what was measured flat out and is no rate, by
    /// its path, and why.
    #[error("`{0}`: {1}")]
    Number(&'static str, String),
    /// A list where fields are written by their names: all of it, or a group of fields.
    #[error("{} is a list; write fields by their names, as `dbtime run --print-spec` does",
            .0.map_or_else(|| "it".to_owned(), |group| format!("`{group}`")))]
    List(Option<&'static str>),
    /// Written by a later dbtime.
    #[error("it has schema {0}, and this dbtime knows up to {SPEC_SCHEMA}: use a newer dbtime")]
    Newer(u32),
    /// The record of a run that holds none.
    #[error("it is the record of a run without a spec; repeat the run by its command: {0}")]
    Missing(String),
}

fn cause_without_secrets(error: &serde_json::Error) -> String {
    without_secrets(&error.to_string()).into_owned()
}

impl SpecDocument {
    /// Reads a written form, or a record (`run.json`) that holds one.
    ///
    /// # Errors
    /// A field that is not known is refused in a written form, and in a record unless it has its
    /// neutral value.
    pub fn read(text: &str) -> Result<Self, SpecError> {
        let value: Value = serde_json::from_str(text)?;
        let command = value.get("command").and_then(|command| command.as_str());
        let document = match (value.get("spec"), command) {
            (Some(spec), _) if spec.is_object() => {
                Self { spec: of_record(spec)?, command: command.map(str::to_owned) }
            }
            (_, Some(command)) => {
                return Err(SpecError::Missing(without_secrets(command).into_owned()));
            }
            (_, None) => {
                refuse_lists(&value)?;
                Self { spec: strictly(text, &value)?, command: None }
            }
        };
        if document.spec.schema > SPEC_SCHEMA {
            return Err(SpecError::Newer(document.spec.schema));
        }
        document.spec.check_numbers()?;
        Ok(document)
    }
}

impl RunSpec {
    /// What has a notation of its own is checked as it is read; numbers are checked here, by the
    /// flags of their names.
    fn check_numbers(&self) -> Result<(), SpecError> {
        let mut any = Self::default();
        let of_load = self.load.numbers().into_iter().chain(self.window.numbers());
        for (path, number) in self.workload.numbers().into_iter().chain(of_load) {
            let Some(number) = number else { continue };
            let (_, name) = path.split_once('.').expect("a group and a name");
            any.set(name, &number.to_string())
                .map_err(|refused| SpecError::Number(path, refused.to_string()))?;
        }
        match &self.load.flat_out {
            Some(found) if !(found.offered_tps() > 0.0 && found.offered_tps().is_finite()) => {
                let why = "it takes a `flat_out_tps` and a `share_pct` above 0".to_owned();
                Err(SpecError::Number("load.flat_out", why))
            }
            _ => Ok(()),
        }
    }
}

/// A list would be read as fields in the order in which this version has them.
fn refuse_lists(value: &Value) -> Result<(), SpecError> {
    let groups = ["workload", "target", "load", "window"];
    let group = groups.into_iter().find(|group| value.get(*group).is_some_and(|of| of.is_array()));
    match value.is_array() || group.is_some() {
        true => Err(SpecError::List(group)),
        false => Ok(()),
    }
}

/// Names the field at fault, where it is one.
fn by_field(error: serde_json::Error, spec: &Value) -> SpecError {
    wrong_field(spec).map_or(SpecError::Json(error), SpecError::Field)
}

/// Reads what somebody may have written by hand, which is this value.
fn strictly(text: &str, value: &Value) -> Result<RunSpec, SpecError> {
    let mut unknown = None;
    let mut json = serde_json::Deserializer::from_str(text);
    let spec: Result<RunSpec, _> = serde_ignored::deserialize(&mut json, |path| {
        unknown.get_or_insert_with(|| path.to_string());
    });
    let spec = spec.map_err(|error| by_field(error, value))?;
    unknown.map_or(Ok(spec), |path| Err(SpecError::Unknown(path)))
}

/// Reads what a dbtime has written into a record. A later one writes fields that are not known here
/// also where the run has nothing of the kind.
fn of_record(spec: &Value) -> Result<RunSpec, SpecError> {
    let mut later = None;
    let read: Result<RunSpec, _> = serde_ignored::deserialize(spec, |path| {
        let path = path.to_string();
        if !value_at(spec, &path).is_some_and(is_neutral) {
            later.get_or_insert(path);
        }
    });
    let read = read.map_err(|error| by_field(error, spec))?;
    later.map_or(Ok(read), |path| Err(SpecError::Later(path)))
}

/// The value at such a path of serde_ignored, which has `?` for the inside of an option.
fn value_at<'a>(spec: &'a Value, path: &str) -> Option<&'a Value> {
    let mut steps = path.split('.').filter(|step| *step != "?");
    steps.try_fold(spec, |within, step| match within {
        Value::Array(values) => values.get(step.parse::<usize>().ok()?),
        _ => within.get(step),
    })
}

/// Whether a field says no more than one that is left out.
fn is_neutral(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_on) => !is_on,
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.values().all(is_neutral),
        Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Rate, RateChoice, ThinkTime};
    use super::*;
    use crate::Nanos;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<SpecDocument, String> {
        SpecDocument::read(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        assert_eq!(read("{}").expect("a run of atm").spec, RunSpec::default());
        let text = r#"{"workload":{"name":"atm"},"window":{"time":"20s"},"load":{"rate":"9/s"}}"#;
        let spec = read(text).expect("a run").spec;
        assert_eq!(spec.window.time, Some(Nanos::from_secs(20)));
        assert_eq!(spec.load.rate, Some(RateChoice::Given(Rate::Constant(9.0))));
        assert_eq!(spec.target.url, "sqlite");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let unknown = read(r#"{"load":{"conections":4}}"#).expect_err("a typing error");
        assert!(unknown.starts_with("there is no field `load.conections`"), "{unknown}");
        let length = read(r#"{"window":{"time":"20 parsecs"}}"#).expect_err("no time");
        assert!(length.contains("`parsecs` is no unit"), "{length}");
        let rate = read(r#"{"load":{"rate":"fast"}}"#).expect_err("no rate");
        assert!(rate.starts_with("--rate: `fast` is no rate"), "{rate}");
        let limit = read(r#"{"limits":["p90<=1s","p90<=x"]}"#).expect_err("no limit");
        assert!(limit.starts_with("--limit: `p90<=x` is not a limit"), "{limit}");
        for (path, text) in [
            ("workload.scale", r#"{"workload":{"scale":0}}"#),
            ("load.connections", r#"{"load":{"connections":0}}"#),
            ("load.connections", r#"{"load":{"connections":100001}}"#),
            ("load.workers", r#"{"load":{"workers":0}}"#),
            ("load.shards", r#"{"load":{"shards":65}}"#),
            ("window.transactions", r#"{"window":{"transactions":0}}"#),
            ("load.flat_out", r#"{"load":{"flat_out":{}}}"#),
            ("load.shards", r#"{"load":{"shards":"2"}}"#),
            ("load", r#"{"load":[null]}"#),
        ] {
            let refused = read(text).expect_err(text);
            assert!(refused.starts_with(&format!("`{path}`")), "{refused}");
        }
        assert!(read("[]").expect_err("a list").starts_with("it is a list; "));
        let cpus = read(r#"{"target":{"server_cpus":"3-1"}}"#).expect_err("no CPUs");
        assert!(cpus.starts_with("--server-cpus: `3-1` is no list of CPUs"), "{cpus}");
        let newer = read(r#"{"schema":99}"#).expect_err("of a later dbtime");
        assert!(newer.contains("schema 99") && newer.contains("newer"), "{newer}");
        let misplaced = read(r#"{"target":"mysql://u:hush@h/d"}"#).expect_err("no table");
        assert!(misplaced.contains("mysql://u:***@h/d"), "{misplaced}");
        let old = read(r#"{"schema":1,"command":"dbtime run atm"}"#).expect_err("no spec in it");
        assert!(old.ends_with("by its command: dbtime run atm"), "{old}");
        let old = r#"{"schema":1,"command":"dbtime run --target 'postgres://h/d?password=hush'"}"#;
        assert!(!read(old).expect_err("no spec in it").contains("hush"));
        assert!(read("").is_err());
    }

    #[test]
    fn a_record_is_read_for_its_spec_and_may_know_more() {
        let record = |spec: &str| {
            read(&format!(r#"{{"command":"dbtime run","spec":{spec},"target":{{"x":2}}}}"#))
        };
        let read = record(r#"{"seed":7,"load":{"later":null,"more":{"a":[]}},"on":false}"#);
        let read = read.expect("a record");
        assert_eq!((read.spec.seed, read.command.as_deref()), (7, Some("dbtime run")));
        // Without what this version does not know it would be another run.
        for (path, spec) in [
            ("later", r#"{"seed":7,"later":1}"#),
            ("load.later", r#"{"load":{"more":null,"later":{"a":null,"b":"x"}}}"#),
            ("target.on", r#"{"target":{"on":true}}"#),
        ] {
            let refused = record(spec).expect_err(spec);
            let expected = format!("the run has `{path}`, which this dbtime does not know");
            assert!(refused.starts_with(&expected), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            seed: u64, ns in proptest::option::of(0..9_000_000_000_000_000_000u64), query: String,
            connections in proptest::option::of(1..=100_000u32),
            mean_ns in 0..9_000_000_000_000_000_000u64,
            limits in proptest::collection::vec(0..1_000_000_000u64, 0..3),
        ) {
            let limits = limits.into_iter().map(|ns| format!(" max <= {ns}ns"));
            let of_text = |text: String| text.parse::<WorkloadLimit>().expect("a limit");
            let limits = limits.map(of_text).collect();
            let think = Some(ThinkTime::Exponential(Nanos(mean_ns)));
            let workload = WorkloadSpec { query: Some(query), ..WorkloadSpec::default() };
            let window = WindowSpec { time: ns.map(Nanos), ..WindowSpec::default() };
            let load = LoadSpec { connections, think, ..LoadSpec::default() };
            let spec = RunSpec { workload, window, load, limits, seed, ..RunSpec::default() };
            let text = serde_json::to_string(&spec).expect("it can be written");
            prop_assert_eq!(read(&text).map(|read| read.spec), Ok(spec));
        }

        #[test]
        fn no_text_makes_it_panic(text in r#"[{}\[\]":,a-z0-9 ]{0,60}|.*"#) {
            let _ = read(&text);
        }
    }
}
