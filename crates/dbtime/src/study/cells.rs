//! The configurations of a study: crossed factors, or a list.

use super::document::{CellTable, StudyDocument};
use crate::cli::run_flags::{self, FlagClass, RunFlag};
use crate::cli::{self, CliCommand};
use crate::exit::CommandFailure;
use crate::secrets;
use crate::spec::BaseRun;
use dbtime_lab::study::PlannedRun;
use dbtime_model::record::FactorValue;
use dbtime_model::spec::FlagSetting;
use dbtime_stats::{MOST_SCREENED, screening_design};
use toml::Value;

/// More configurations than this are no study but a search.
const MOST_CELLS: usize = 64;

/// The flag of a run that a study decides itself.
pub(super) const SEED: &str = "seed";

/// One configuration before it is a run: its name, and the flags that make it this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CellFlags {
    pub(super) name: String,
    pub(super) flags: Vec<FlagSetting>,
    /// Its level of each factor.
    pub(super) levels: Vec<FactorValue>,
}

/// All configurations, in the order of the file.
pub(super) fn cells(document: &StudyDocument) -> Result<Vec<CellFlags>, CommandFailure> {
    let cells = match (document.factors.is_empty(), document.cell.is_empty()) {
        (true, false) => listed(&document.cell)?,
        (false, true) if document.design.screening == Some(true) => screened(&document.factors)?,
        (false, true) => crossed(&document.factors)?,
        (true, true) => {
            return Err(CommandFailure::usage(
                "nothing is compared: give [factors], such as connections = [1, 16], or a \
                 [[cell]] for each configuration",
            ));
        }
        (false, false) => {
            return Err(CommandFailure::usage(
                "both [factors] and [[cell]] are given: cross factors, or list configurations",
            ));
        }
    };
    if let [only] = &cells[..] {
        return Err(CommandFailure::usage(format!(
            "`{}` is the only configuration: there is nothing to compare it with",
            only.name
        )));
    }
    for (at, cell) in cells.iter().enumerate() {
        if cells[..at].iter().any(|other| other.name == cell.name) {
            let name = &cell.name;
            return Err(CommandFailure::usage(format!("two configurations are called `{name}`")));
        }
    }
    Ok(cells)
}

fn listed(tables: &[CellTable]) -> Result<Vec<CellFlags>, CommandFailure> {
    let cell = |table: &CellTable| {
        let flags = flags(&table.flags)?;
        Ok(CellFlags { name: table.name.clone(), flags, levels: Vec::new() })
    };
    tables.iter().map(cell).collect()
}

fn crossed(factors: &toml::Table) -> Result<Vec<CellFlags>, CommandFailure> {
    let mut cells = vec![CellFlags::default()];
    for (factor, levels) in factors {
        let levels = levels_of(factor, levels)?;
        cells = cells
            .iter()
            .flat_map(|cell| levels.iter().map(move |level| joined(cell, level)))
            .collect();
        if cells.len() > MOST_CELLS {
            return Err(CommandFailure::usage(format!(
                "the factors cross to more than {MOST_CELLS} configurations: list the interesting \
                 ones as [[cell]]"
            )));
        }
    }
    Ok(cells)
}

/// Plackett and Burman's design: each factor's two levels, and few of their combinations.
fn screened(factors: &toml::Table) -> Result<Vec<CellFlags>, CommandFailure> {
    let mut all = Vec::new();
    for (factor, levels) in factors {
        match <[CellFlags; 2]>::try_from(levels_of(factor, levels)?) {
            Ok(two) => all.push(two),
            Err(levels) => {
                return Err(CommandFailure::usage(format!(
                    "screening is of two levels of each factor, and `{factor}` has {}: the two \
                     between which an effect is most likely",
                    levels.len()
                )));
            }
        }
    }
    let rows = screening_design(all.len()).ok_or_else(|| {
        CommandFailure::usage(format!("screening is of 2 to {MOST_SCREENED} factors"))
    })?;
    let cell = |row: &Vec<bool>| {
        let levels = all.iter().zip(row).map(|(two, is_second)| &two[usize::from(*is_second)]);
        levels.fold(CellFlags::default(), |cell, level| joined(&cell, level))
    };
    Ok(rows.iter().map(cell).collect())
}

fn joined(cell: &CellFlags, level: &CellFlags) -> CellFlags {
    let names = [&cell.name, &level.name].map(String::as_str);
    CellFlags {
        name: names.join(" ").trim_start().to_owned(),
        flags: cell.flags.iter().chain(&level.flags).cloned().collect(),
        levels: cell.levels.iter().chain(&level.levels).cloned().collect(),
    }
}

/// The levels of a factor: values of the flag of its name, or names with words.
fn levels_of(factor: &str, levels: &Value) -> Result<Vec<CellFlags>, CommandFailure> {
    let wrong = || {
        CommandFailure::usage(format!(
            "the factor `{factor}` has neither values, such as {factor} = [1, 16], nor levels with \
             names, such as {factor}.on = \"server-set=…\""
        ))
    };
    let levels: Vec<CellFlags> = match levels {
        Value::Array(values) => values
            .iter()
            .map(|value| {
                let value = plain(value).ok_or_else(wrong)?;
                let flags = vec![cell_flag(factor, value.clone())?];
                let levels = vec![level(factor, &value)];
                Ok(CellFlags { name: format!("{factor}={value}"), flags, levels })
            })
            .collect::<Result<_, CommandFailure>>()?,
        Value::Table(named) => named
            .iter()
            .map(|(name, words)| {
                let flags = flags(words.as_str().ok_or_else(wrong)?)?;
                Ok(CellFlags { name: name.clone(), flags, levels: vec![level(factor, name)] })
            })
            .collect::<Result<_, CommandFailure>>()?,
        _ => return Err(wrong()),
    };
    if levels.is_empty() { Err(wrong()) } else { Ok(levels) }
}

fn level(factor: &str, level: &str) -> FactorValue {
    FactorValue { name: factor.to_owned(), value: level.to_owned() }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(is_on) => Some(is_on.to_string()),
        _ => None,
    }
}

/// `connections=16 trace` as flags with their values; quotes as in a shell.
fn flags(words: &str) -> Result<Vec<FlagSetting>, CommandFailure> {
    let split = shlex::split(words).ok_or_else(|| {
        // A target may stand in them.
        CommandFailure::usage("the flags of a configuration have a quote that does not end")
    })?;
    let parts = |word: &String| {
        let word = word.trim_start_matches("--");
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        cell_flag(name, value.to_owned())
    };
    split.iter().map(parts).collect()
}

/// A flag of a configuration, or of all.
///
/// Errors: it is none, or its value has a secret, which would be kept with the results.
pub(super) fn cell_flag(name: &str, value: String) -> Result<FlagSetting, CommandFailure> {
    let name = name.trim_start_matches("--");
    if name == "password-file" {
        return Err(CommandFailure::usage(
            "`password-file` is no flag of a configuration: a study takes the target's password \
             from DBTIME_PASSWORD, each time it makes runs",
        ));
    }
    let is_of_run = |flag: &RunFlag| flag.class == FlagClass::Run && name != SEED;
    if name.is_empty() || run_flags::find(name).is_some_and(|flag| !is_of_run(flag)) {
        return Err(CommandFailure::usage(format!(
            "`{name}` is no flag of a configuration: a study has its own seeds, repetitions and \
             records; leave it out"
        )));
    }
    if secrets::shown(name, &value) != value {
        let remedy = match name {
            "query" => "write '***' in its place, and set DBTIME_QUERY to the whole statement",
            _ => {
                "give a target's in DBTIME_PASSWORD, and other secrets by their names alone, \
                 which take dbtime's own variables, such as server-env=NAME"
            }
        };
        return Err(CommandFailure::usage(format!(
            "a password stands in `{name}` of the study's file, which is kept with the results: \
             {remedy}"
        )));
    }
    Ok(FlagSetting { name: name.to_owned(), value })
}

/// What all configurations have in common, as a study's file has it behind `run`.
///
/// Errors: it describes no run, or has what is no affair of a run's.
pub(super) fn base_of(common: &str) -> Result<BaseRun, CommandFailure> {
    let words = shlex::split(common)
        .ok_or_else(|| CommandFailure::usage("run: a quote does not end in it".to_owned()))?;
    for (at, word) in words.iter().enumerate() {
        let Some(given) = word.strip_prefix("--") else { continue };
        let (name, value) = given.split_once('=').unwrap_or((given, ""));
        // The value may be the next word.
        let next = words.get(at + 1).map_or("", String::as_str);
        cell_flag(name, if value.is_empty() { next } else { value }.to_owned())?;
    }
    let command = ["dbtime", "run"].into_iter().map(str::to_owned);
    let parsed = cli::parse(command.chain(words)).map_err(|error| {
        let why = cli::complaint(&error).unwrap_or_else(|| error.to_string());
        CommandFailure::usage(format!("run: {why}"))
    })?;
    match parsed.command {
        CliCommand::Run(args) => BaseRun::of(&args),
        _ => Err(CommandFailure::usage("only runs can be repeated: write the flags of run")),
    }
}

/// The run of a configuration, by what all have in common.
///
/// Errors: whatever is wrong with it that can be seen before it is run.
pub(super) fn run_of(base: &BaseRun, cell: &CellFlags) -> Result<PlannedRun, CommandFailure> {
    let flags = cell.flags.iter();
    let settings = flags.map(|flag| run_flags::setting(&flag.name, &flag.value));
    let settings = settings.collect::<Result<Vec<_>, _>>().map_err(CommandFailure::usage)?;
    let run = base.planned(&settings)?;
    if run.is_auto() {
        return Err(CommandFailure::usage(
            "--rate auto measures another rate for every run: write one that is known, such as \
             --rate 500/s",
        ));
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::super::document;
    use super::*;
    use std::path::Path;

    fn of(text: &str) -> Result<Vec<CellFlags>, String> {
        let document = document::read(&format!("run = \"atm\"\n{text}"), Path::new("s.toml"));
        cells(&document.expect("a document")).map_err(|failure| failure.words())
    }

    #[test]
    fn factors_cross_in_the_order_of_the_file() {
        let crossed = of("[factors]\nworkers = [8, 2]\n[factors.sync]\noff = \"server-set=a=0\"\n\
                          full = \"server-set=a=1 server-set=b='x y'\"\n")
        .expect("factors");
        let names: Vec<&str> = crossed.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names, ["workers=8 off", "workers=8 full", "workers=2 off", "workers=2 full"]);
        let pair = |FlagSetting { name, value }: &FlagSetting| format!("{name}={value}");
        let flags: Vec<String> = crossed[1].flags.iter().map(pair).collect();
        assert_eq!(flags, ["workers=8", "server-set=a=1", "server-set=b=x y"]);
    }

    #[test]
    fn a_switch_is_a_factor_and_a_flag_of_a_cell() {
        let crossed = of("[factors]\npipeline = [false, true]\n").expect("factors");
        let base = base_of("values1 --target mariadb --connections 2").expect("a run");
        let is_on = |cell| run_of(&base, cell).expect("a run").spec.target.pipeline;
        assert_eq!([is_on(&crossed[0]), is_on(&crossed[1])], [false, true]);
        let base = base_of("values1 --target mariadb --pipeline").expect("a run");
        let off = run_of(&base, &crossed[0]).expect("a run");
        assert!(!off.spec.target.pipeline && !off.command.contains("pipeline"), "{}", off.command);
        let cells = of("[[cell]]\nname = \"a\"\nflags = \"no-budget=maybe\"\n\
                        [[cell]]\nname = \"b\"\n");
        let cells = cells.expect("two of them");
        let base = base_of("values1").expect("a run");
        let error = run_of(&base, &cells[0]).expect_err("neither on nor off").words();
        assert!(error.contains("write no-budget=true or no-budget=false"), "{error}");
    }

    /// Else a flag that a run's written form does not have would be ignored.
    #[test]
    fn what_is_no_flag_of_a_run_is_no_flag_of_a_cell() {
        for flags in ["find-rate=p99<=1ms", "flat-out-rate", "parent=1", "strict", "repeat=2"] {
            let name = flags.split('=').next().unwrap_or_default();
            let why = format!("`{name}` is no flag of a configuration");
            let cell = format!("[[cell]]\nname = \"a\"\nflags = \"{flags}\"\n");
            let error = of(&format!("{cell}[[cell]]\nname = \"b\"\n")).expect_err(flags);
            assert!(error.starts_with(&why) && error.ends_with("leave it out"), "{error}");
            let error = base_of(&format!("values1 --{flags}")).map(|_| ()).expect_err(flags);
            assert!(error.words().starts_with(&why), "{flags}");
        }
        let base = base_of("values1").expect("a run");
        for (flags, why) in [("workres=1", "has no flag --workres"), ("workers", "has no value")] {
            let flags = self::flags(flags).expect("words");
            let cell = CellFlags { flags, ..CellFlags::default() };
            assert!(run_of(&base, &cell).expect_err(why).words().contains(why), "{why}");
        }
    }

    #[test]
    fn what_compares_nothing_is_refused() {
        for (text, why) in [
            ("", "nothing is compared"),
            ("[factors]\nworkers = [8]\n", "is the only configuration"),
            ("[factors]\nworkers = [8, 8]\n", "two configurations are called `workers=8`"),
            ("[factors]\nseed = [1, 2]\n", "`seed` is no flag of a configuration"),
            ("[factors]\nfind-rate = [\"p95<=5ms\", \"p95<=9ms\"]\n", "`find-rate` is no flag of"),
            ("[factors]\npassword-file = [\"a\", \"b\"]\n", "from DBTIME_PASSWORD"),
            ("[factors]\nworkers = 3\n", "has neither values"),
            ("[factors]\nworkers = []\n", "has neither values"),
            ("[factors.x]\na = 3\n", "has neither values"),
            ("[factors.x]\na = \"'\"\n", "a quote that does not end"),
            ("[factors]\ntarget = [\"mysql://u:pw@h/d\", \"sqlite\"]\n", "a password stands in"),
            ("[factors]\nserver-env = [\"API_KEY=pw\", \"API_KEY=x\"]\n", "stands in `server-env`"),
            ("[factors]\nquery = [\"SET PASSWORD = 'pw'\", \"SELECT 1\"]\n", "set DBTIME_QUERY"),
            ("[factors]\nworkers = [1, 2]\n[[cell]]\nname = \"x\"\n", "both [factors] and"),
        ] {
            let found = of(text).expect_err(text);
            assert!(found.contains(why), "{text}: {found}");
        }
        let many = format!("[factors]\nworkers = {:?}\n", (1..=65).collect::<Vec<_>>());
        assert!(of(&many).expect_err("too many").contains("more than 64"));
    }
}
