//! External programs as the runs of a study: what is read of them.

use super::cells::CellFlags;
use super::document::{MetricTable, StudyDocument};
use super::{named, usage};
use crate::error::LabError;
use crate::study::program_output::check_source;
use dbtime_model::Nanos;
use dbtime_model::record::FactorValue;
use dbtime_model::secret_text::{is_secret_name, is_secret_variable, script_holds_secret};
use dbtime_model::spec::FlagSetting;
use dbtime_model::study::{MetricSource, ProgramMetric, ProgramRules, UsageFigure};
use serde::Deserialize;

/// A run that takes longer has hung. Unit: seconds.
const TIMEOUT_S: f64 = 3_600.0;

/// A figure that a known program prints: its name, its unit, whether more is better, and where it
/// stands.
type KnownMetric = (&'static str, &'static str, bool, &'static str);

/// sysbench 1.0 and 1.1: the report at the end of a run.
const SYSBENCH: [KnownMetric; 5] = [
    ("throughput", "tps", true, r"transactions:\s+\d+\s+\(([\d.]+) per sec"),
    ("queries", "1/s", true, r"queries:\s+\d+\s+\(([\d.]+) per sec"),
    ("mean", "ms", false, r"\bavg:\s+([\d.]+)"),
    ("p95", "ms", false, r"95th percentile:\s+([\d.]+)"),
    ("p99", "ms", false, r"99th percentile:\s+([\d.]+)"),
];

/// pgbench 9.6 to 18: the report at the end of a run; before 14 the rate that leaves connecting out
/// is the second one.
const PGBENCH: [KnownMetric; 3] = [
    ("throughput", "tps", true, r"tps = ([\d.]+)"),
    ("mean", "ms", false, r"latency average = ([\d.]+) ms"),
    ("stddev", "ms", false, r"latency stddev = ([\d.]+) ms"),
];

/// How the runs of a file with a command are made.
///
/// Errors: whatever is wrong with it.
pub(super) fn rules(document: &StudyDocument) -> Result<ProgramRules, LabError> {
    refuse_secrets(document)?;
    let mut metrics = match document.parser.as_deref() {
        None => Vec::new(),
        Some("sysbench") => SYSBENCH.map(known).to_vec(),
        Some("pgbench") => PGBENCH.map(known).to_vec(),
        Some("time") => Vec::new(),
        Some(other) => {
            return Err(named(
                "parser",
                other,
                "write sysbench, pgbench or time, or a [metric.NAME]",
            ));
        }
    };
    for (name, table) in &document.metric {
        let metric = listed(name, table)?;
        match metrics.iter_mut().find(|known| known.name == *name) {
            Some(known) => *known = metric,
            None => metrics.push(metric),
        }
    }
    if metrics.is_empty() && document.parser.is_none() {
        return Err(usage(
            "no metric is read from the command: give a parser (sysbench, pgbench, time), or a \
             [metric.NAME] with json or regex",
        ));
    }
    // What it uses is known of every program.
    for (name, unit, figure) in UsageFigure::NAMED {
        if metrics.iter().all(|metric| metric.name != name) {
            metrics.push(ProgramMetric {
                name: name.to_owned(),
                unit: unit.to_owned(),
                is_higher_better: false,
                source: MetricSource::Usage(figure),
            });
        }
    }
    primary_first(&mut metrics, document.primary.as_deref())?;
    let timeout_s = match &document.timeout {
        None => TIMEOUT_S,
        Some(text) => {
            let timeout: Nanos = text.parse().map_err(|why| named("timeout", text, why))?;
            timeout.as_secs()
        }
    };
    let (prepare, conclude) = (document.prepare.clone(), document.conclude.clone());
    Ok(ProgramRules { prepare, conclude, timeout_s, metrics })
}

/// Refuses a password in what the shell does: variables may stand in its place.
fn refuse_secrets(document: &StudyDocument) -> Result<(), LabError> {
    let StudyDocument { command, prepare, conclude, .. } = document;
    for (key, text) in [("command", command), ("prepare", prepare), ("conclude", conclude)] {
        if text.as_deref().is_some_and(script_holds_secret) {
            return Err(usage(format!(
                "there is a password in `{key}` of the study's file, which is kept with the \
                 results: write a variable in its place, such as \"$MYSQL_PWD\", and set that"
            )));
        }
    }
    Ok(())
}

/// The variables of the command's environment that make a configuration.
///
/// Errors: one that cannot be a variable, or may be a secret.
pub(super) fn variables(cell: &CellFlags) -> Result<Vec<FactorValue>, LabError> {
    let variable = |FlagSetting { name, value }: &FlagSetting| {
        // As a level of a factor a number is a size or a count, such as KEYS=1000.
        let is_number = value.parse::<f64>().is_ok();
        let is_secret = is_secret_variable(name, value) || script_holds_secret(value);
        if is_secret && (!is_number || is_secret_name(name)) {
            return Err(usage(format!(
                "`{name}` of the study's file may be a secret, and is kept with the results: set \
                 it in dbtime's own environment, which its commands have too"
            )));
        }
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match name.starts_with(is_first) && name.chars().all(is_plain) && !value.contains('\0') {
            true => Ok(FactorValue { name: name.clone(), value: value.clone() }),
            false => Err(usage(format!(
                "`{name}` cannot be a variable of the command's environment: write NAME=value"
            ))),
        }
    };
    cell.flags.iter().map(variable).collect()
}

fn known((name, unit, is_higher_better, pattern): KnownMetric) -> ProgramMetric {
    ProgramMetric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        is_higher_better,
        source: MetricSource::Regex(pattern.to_owned()),
    }
}

fn listed(name: &str, table: &toml::Value) -> Result<ProgramMetric, LabError> {
    let wrong = |why: String| usage(format!("[metric.{name}]: {why}"));
    let table =
        MetricTable::deserialize(table.clone()).map_err(|error| wrong(error.to_string()))?;
    let source = match (table.json, table.regex) {
        (Some(path), None) => MetricSource::Json(path),
        (None, Some(pattern)) => MetricSource::Regex(pattern),
        _ => return Err(wrong("give it json = \"…\" or regex = \"…\"".to_owned())),
    };
    check_source(&source).map_err(wrong)?;
    let is_higher_better = match table.better.as_str() {
        "higher" => true,
        "lower" => false,
        other => return Err(wrong(format!("better = \"{other}\": write higher or lower"))),
    };
    Ok(ProgramMetric { name: name.to_owned(), unit: table.unit, is_higher_better, source })
}

fn primary_first(metrics: &mut [ProgramMetric], primary: Option<&str>) -> Result<(), LabError> {
    let Some(primary) = primary else { return Ok(()) };
    let Some(at) = metrics.iter().position(|metric| metric.name == primary) else {
        let names: Vec<_> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        return Err(named("primary", primary, format!("none of {}", names.join(", "))));
    };
    metrics[..=at].rotate_right(1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::document;
    use super::*;
    use crate::study::program_output::program_values;
    use dbtime_model::study::ProgramRecord;
    use std::path::Path;

    fn rules_of(text: &str) -> Result<ProgramRules, String> {
        let document = document::read(&format!("command = \"x\"\n{text}"), Path::new("s.toml"));
        rules(&document.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_read_of_a_command_has_the_primary_first() {
        let rules = rules_of(
            "parser = \"sysbench\"\nprimary = \"p95\"\ntimeout = \"10min\"\n[metric.errors]\n\
             regex = 'errors: (\\d+)'\nbetter = \"lower\"\n",
        )
        .expect("rules");
        let names: Vec<&str> = rules.metrics.iter().map(|metric| metric.name.as_str()).collect();
        let first = ["p95", "throughput", "queries", "mean", "p99", "errors", "wall"];
        assert_eq!(names[..7], first);
        assert_eq!(rules.timeout_s, 600.0);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (text, why) in [
            ("", "no metric is read from"),
            ("parser = \"perl\"\n", "write sysbench, pgbench or time"),
            ("parser = \"time\"\nprimary = \"tps\"\n", "none of wall, user, system, rss-peak"),
            ("parser = \"time\"\ntimeout = \"soon\"\n", "timeout = \"soon\""),
            ("[metric.a]\nbetter = \"lower\"\n", "[metric.a]: give it json"),
            ("[metric.a]\njson = \"a\"\n", "missing field `better`"),
            ("[metric.a]\njson = \"a\"\nbetter = \"up\"\n", "write higher or lower"),
            ("[metric.a]\nregex = \"a\"\nbetter = \"lower\"\n", "it has no group"),
            ("[metric.a]\nregexp = \"a\"\nbetter = \"lower\"\n", "unknown field `regexp`"),
            ("parser = \"time\"\nprepare = \"PGPASSWORD=x psql\"\n", "in `prepare`"),
            ("parser = \"time\"\nconclude = \"psql postgres://u:x@h\"\n", "in `conclude`"),
            ("parser = \"time\"\nprepare = \"mysql -phush\"\n", "in `prepare`"),
            ("parser = \"time\"\nprepare = \"mysql --password hush\"\n", "in `prepare`"),
            ("parser = \"time\"\nprepare = \"curl -u joe:hush x\"\n", "in `prepare`"),
        ] {
            let found = rules_of(text).expect_err(text);
            assert!(found.contains(why), "{text}: {found}");
        }
        let by_variables = "parser = \"time\"\n\
                            prepare = 'x --password=\"$A\" postgres://u:$B@h B_TOKEN=$C'\n";
        rules_of(by_variables).expect("no password");
        let cell = CellFlags {
            name: "a".into(),
            flags: vec![FlagSetting::new("a-b", "1")],
            levels: Vec::new(),
        };
        assert!(variables(&cell).is_err());
        let of = |name: &str, value: &str| {
            let flags = vec![FlagSetting::new(name, value)];
            variables(&CellFlags { name: "a".into(), flags, levels: Vec::new() })
        };
        let error = of("PGPASSWORD", "hush").expect_err("a secret").to_string();
        assert!(error.contains("`PGPASSWORD`") && !error.contains("hush"), "{error}");
        assert!(of("PGPASSWORD", "1234").is_err() && of("DB_KEY", "hush").is_err());
        assert!(of("CLIENT", "mysql -phush").is_err() && of("CLIENT", "mysql -u joe").is_ok());
        assert!(of("KEYS", "1000").is_ok() && of("KEY_BYTES", "1e3").is_ok());
    }

    #[test]
    fn reports_of_sysbench_and_pgbench_are_read() {
        let read = |parser: &str, output: &str| {
            let rules = rules_of(&format!("parser = \"{parser}\"\n")).expect("rules");
            program_values(&rules.metrics, &ProgramRecord::default(), output).expect("values")
        };
        let sysbench = "[ 1s ] thds: 4 tps: 900.1 qps: 1\nSQL statistics:\n    transactions:       \
                        123456 (12345.60 per sec.)\n    queries:  246912 (24691.20 per sec.)\n\
                        Latency (ms):\n         min:   0.10\n         avg:     3.25\n         \
                        95th percentile:   7.98\n";
        let values = read("sysbench", sysbench);
        assert_eq!((values["throughput"], values["mean"], values["p95"]), (12345.6, 3.25, 7.98));
        assert!(!values.contains_key("p99"));
        let pgbench = "latency average = 1.5 ms\nlatency stddev = 0.3 ms\n\
                       tps = 90.0 (including connections establishing)\n\
                       tps = 95.5 (excluding connections establishing)\n";
        let values = read("pgbench", pgbench);
        assert_eq!((values["throughput"], values["mean"]), (95.5, 1.5));
    }
}
