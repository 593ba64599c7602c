//! The file of a study, as it is written.

use super::{gate, usage};
use crate::error::LabError;
use dbtime_model::secret_text::without_secrets;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::path::Path;

/// The document; what can be left out has a default.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StudyDocument {
    /// Default: the file's own.
    pub(super) name: Option<String>,
    pub(super) question: Option<String>,
    /// Default: throughput of a closed loop, else the mean response.
    pub(super) primary: Option<String>,
    /// Default: 1 %.
    pub(super) margin: Option<String>,
    /// Name of a configuration. Default: the first.
    pub(super) baseline: Option<String>,
    /// The factor whose levels are compared, at each combination of the others.
    pub(super) compare: Option<String>,
    /// What all have in common, as behind `dbtime run`; this or a command.
    pub(super) run: Option<String>,
    /// What the shell does for a run of an external program.
    pub(super) command: Option<String>,
    /// What the shell does before each run of a command.
    pub(super) prepare: Option<String>,
    /// What it does after each.
    pub(super) conclude: Option<String>,
    /// Default: 1 h.
    pub(super) timeout: Option<String>,
    /// `sysbench`, `pgbench`, `time`. Default: the metrics that are listed.
    pub(super) parser: Option<String>,
    /// What is read of the command's output, by name.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub(super) metric: toml::Table,
    #[serde(default)]
    pub(super) design: DesignTable,
    #[serde(default)]
    pub(super) gate: GateTable,
    /// What is crossed: values of a flag, or levels with names.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub(super) factors: toml::Table,
    /// The configurations one by one, in place of factors.
    #[serde(default)]
    pub(super) cell: Vec<CellTable>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct DesignTable {
    /// Default: 10.
    pub(super) blocks: Option<u32>,
    /// Default: 1.
    pub(super) seed: Option<u64>,
    /// In how many slices the window of each run is made. Default: 1, as a whole.
    pub(super) slices: Option<u32>,
    /// Whether few of the combinations of factors are run. Default: false.
    pub(super) screening: Option<bool>,
    /// Default: true.
    pub(super) control: Option<bool>,
    /// `fixed`, `precision:0.5%`, `looks:3`. Default: fixed.
    pub(super) stop: Option<String>,
    /// `snapshot` or `load`. Default: snapshot.
    pub(super) data: Option<String>,
    /// The most blocks of a study that ends by precision. Default: three times the blocks.
    pub(super) max_blocks: Option<u32>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct GateTable {
    /// Default: 1 %.
    pub(super) steal: Option<String>,
    /// Default: 10 %.
    pub(super) foreign_cpu: Option<String>,
    /// Default: 2min.
    pub(super) wait: Option<String>,
    /// Default: as many as there are blocks.
    pub(super) repeats: Option<u32>,
    /// Default: true.
    pub(super) steady: Option<bool>,
    /// `stop` or `count`. Default: stop.
    pub(super) noise: Option<String>,
}

impl GateTable {
    /// The limits of a command line, and of this where that has none.
    ///
    /// Errors: one of them is none.
    pub(super) fn with(self, limits: &str) -> Result<Self, LabError> {
        let of_flag = |why: &dyn Display| usage(format!("--allow '{limits}': {why}"));
        let table = limits_table(limits).map_err(|why| of_flag(&why))?;
        let given: Self = table
            .try_into()
            .map_err(|error: toml::de::Error| of_flag(&error.message().trim_end()))?;
        gate(&given, 1).map_err(|error| of_flag(&error))?;
        Ok(Self {
            steal: given.steal.or(self.steal),
            foreign_cpu: given.foreign_cpu.or(self.foreign_cpu),
            wait: given.wait.or(self.wait),
            repeats: given.repeats.or(self.repeats),
            steady: given.steady.or(self.steady),
            noise: given.noise.or(self.noise),
        })
    }
}

/// The limits of a command line, such as `steal=5% repeats=20`, as a table of a study's file.
///
/// Errors: what a limit takes that has no such value.
fn limits_table(limits: &str) -> Result<toml::Table, &'static str> {
    let limit = |word: &str| {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let value = match key {
            "repeats" => {
                let number = value.parse::<u32>().map(i64::from).map(toml::Value::Integer);
                number.map_err(|_| "repeats takes a whole number, such as repeats=20")?
            }
            "steady" => {
                let is_on = value.parse().map(toml::Value::Boolean);
                is_on.map_err(|_| "steady takes true or false, such as steady=false")?
            }
            _ => toml::Value::from(value),
        };
        Ok::<_, &'static str>((key.to_owned(), value))
    };
    limits.split_whitespace().map(limit).collect()
}

/// One metric of a command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct MetricTable {
    pub(super) json: Option<String>,
    pub(super) regex: Option<String>,
    /// Default: none.
    #[serde(default)]
    pub(super) unit: String,
    /// `higher` or `lower`.
    pub(super) better: String,
}

/// One configuration.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CellTable {
    pub(super) name: String,
    /// What makes it this one, as words of `--sweep`: `connections=16`.
    #[serde(default)]
    pub(super) flags: String,
}

/// Reads the document of a file.
///
/// Errors: with the place in the file.
pub(super) fn read(text: &str, path: &Path) -> Result<StudyDocument, LabError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        // It may quote a value that stands in the wrong place.
        let reason = without_secrets(error.message().trim_end());
        usage(format!("{}, line {line}: {reason}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = |text: &str| read(text, Path::new("s.toml")).expect_err("wrong").to_string();
        let unknown = error("run = \"atm\"\n[design]\nblock = 3\n");
        assert!(unknown.starts_with("s.toml, line 3: unknown field `block`"), "{unknown}");
        assert!(error("run = ").starts_with("s.toml, line 1: "));
        let misplaced = error("factors = \"target=mysql://u:hush@h/d\"\n");
        assert!(misplaced.starts_with("s.toml, line 1: ") && !misplaced.contains("hush"));
    }
}
