//! The configurations of a study: crossed factors, or a list.

use super::document::{CellTable, StudyDocument};
use super::{RunGrammar, usage};
use crate::error::LabError;
use dbtime_model::record::FactorValue;
use dbtime_model::spec::FlagSetting;
use dbtime_stats::{MOST_SCREENED, screening_design};
use toml::Value;

/// More configurations than this are no study but a search.
const MOST_CELLS: usize = 64;

/// One configuration before it is a run: its name, and the flags that make it this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CellFlags {
    pub(super) name: String,
    pub(super) flags: Vec<FlagSetting>,
    /// Its level of each factor.
    pub(super) levels: Vec<FactorValue>,
}

/// All configurations, in the order of the file.
pub(super) fn cells(
    document: &StudyDocument,
    grammar: &dyn RunGrammar,
) -> Result<Vec<CellFlags>, LabError> {
    let reader = CellReader { grammar };
    let cells = match (document.factors.is_empty(), document.cell.is_empty()) {
        (true, false) => reader.listed(&document.cell)?,
        (false, true) if document.design.screening == Some(true) => {
            reader.screened(&document.factors)?
        }
        (false, true) => reader.crossed(&document.factors)?,
        (true, true) => {
            return Err(usage(
                "nothing is compared: give [factors], such as connections = [1, 16], or a \
                 [[cell]] for each configuration",
            ));
        }
        (false, false) => {
            return Err(usage(
                "both [factors] and [[cell]] are given: cross factors, or list configurations",
            ));
        }
    };
    if let [only] = &cells[..] {
        return Err(usage(format!(
            "`{}` is the only configuration: there is nothing to compare it with",
            only.name
        )));
    }
    for (at, cell) in cells.iter().enumerate() {
        if cells[..at].iter().any(|other| other.name == cell.name) {
            let name = &cell.name;
            return Err(usage(format!("two configurations are called `{name}`")));
        }
    }
    Ok(cells)
}

/// Reads configurations whose flags are those of this grammar.
#[derive(Clone, Copy)]
struct CellReader<'a> {
    grammar: &'a dyn RunGrammar,
}

impl CellReader<'_> {
    fn listed(self, tables: &[CellTable]) -> Result<Vec<CellFlags>, LabError> {
        let cell = |table: &CellTable| {
            let flags = self.flags(&table.flags)?;
            Ok(CellFlags { name: table.name.clone(), flags, levels: Vec::new() })
        };
        tables.iter().map(cell).collect()
    }

    fn crossed(self, factors: &toml::Table) -> Result<Vec<CellFlags>, LabError> {
        let mut cells = vec![CellFlags::default()];
        for (factor, levels) in factors {
            let levels = self.levels_of(factor, levels)?;
            cells = cells
                .iter()
                .flat_map(|cell| levels.iter().map(move |level| joined(cell, level)))
                .collect();
            if cells.len() > MOST_CELLS {
                return Err(usage(format!(
                    "the factors cross to more than {MOST_CELLS} configurations: list the \
                     interesting ones as [[cell]]"
                )));
            }
        }
        Ok(cells)
    }

    /// Plackett and Burman's design: each factor's two levels, and few of their combinations.
    fn screened(self, factors: &toml::Table) -> Result<Vec<CellFlags>, LabError> {
        let mut all = Vec::new();
        for (factor, levels) in factors {
            match <[CellFlags; 2]>::try_from(self.levels_of(factor, levels)?) {
                Ok(two) => all.push(two),
                Err(levels) => {
                    return Err(usage(format!(
                        "screening is of two levels of each factor, and `{factor}` has {}: the two \
                         between which an effect is most likely",
                        levels.len()
                    )));
                }
            }
        }
        let rows = screening_design(all.len())
            .ok_or_else(|| usage(format!("screening is of 2 to {MOST_SCREENED} factors")))?;
        let cell = |row: &Vec<bool>| {
            let levels = all.iter().zip(row).map(|(two, is_second)| &two[usize::from(*is_second)]);
            levels.fold(CellFlags::default(), |cell, level| joined(&cell, level))
        };
        Ok(rows.iter().map(cell).collect())
    }

    /// The levels of a factor: values of the flag of its name, or names with words.
    fn levels_of(self, factor: &str, levels: &Value) -> Result<Vec<CellFlags>, LabError> {
        let wrong = || {
            usage(format!(
                "the factor `{factor}` has neither values, such as {factor} = [1, 16], nor levels \
                 with names, such as {factor}.on = \"server-set=…\""
            ))
        };
        let levels: Vec<CellFlags> = match levels {
            Value::Array(values) => values
                .iter()
                .map(|value| {
                    let value = plain(value).ok_or_else(wrong)?;
                    let flags = vec![self.grammar.cell_flag(factor, &value)?];
                    let levels = vec![level(factor, &value)];
                    Ok(CellFlags { name: format!("{factor}={value}"), flags, levels })
                })
                .collect::<Result<_, LabError>>()?,
            Value::Table(named) => named
                .iter()
                .map(|(name, words)| {
                    let flags = self.flags(words.as_str().ok_or_else(wrong)?)?;
                    Ok(CellFlags { name: name.clone(), flags, levels: vec![level(factor, name)] })
                })
                .collect::<Result<_, LabError>>()?,
            _ => return Err(wrong()),
        };
        if levels.is_empty() { Err(wrong()) } else { Ok(levels) }
    }

    /// `connections=16 trace` as flags with their values; quotes as in a shell.
    fn flags(self, words: &str) -> Result<Vec<FlagSetting>, LabError> {
        let split = shlex::split(words).ok_or_else(|| {
            // A target may stand in them.
            usage("the flags of a configuration have an unclosed quote")
        })?;
        let parts = |word: &String| {
            let word = word.trim_start_matches("--");
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            self.grammar.cell_flag(name, value)
        };
        split.iter().map(parts).collect()
    }
}

fn joined(cell: &CellFlags, level: &CellFlags) -> CellFlags {
    let names = [&cell.name, &level.name].map(String::as_str);
    CellFlags {
        name: names.join(" ").trim_start().to_owned(),
        flags: cell.flags.iter().chain(&level.flags).cloned().collect(),
        levels: cell.levels.iter().chain(&level.levels).cloned().collect(),
    }
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

#[cfg(test)]
mod tests {
    use super::super::document;
    use super::super::tests::AnyFlags;
    use super::*;
    use std::path::Path;

    fn of(text: &str) -> Result<Vec<CellFlags>, String> {
        let document = document::read(&format!("run = \"atm\"\n{text}"), Path::new("s.toml"));
        cells(&document.expect("a document"), &AnyFlags).map_err(|error| error.to_string())
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
    fn what_compares_nothing_is_refused() {
        for (text, why) in [
            ("", "nothing is compared"),
            ("[factors]\nworkers = [8]\n", "is the only configuration"),
            ("[factors]\nworkers = [8, 8]\n", "two configurations are called `workers=8`"),
            ("[factors]\nworkers = 3\n", "has neither values"),
            ("[factors]\nworkers = []\n", "has neither values"),
            ("[factors.x]\na = 3\n", "has neither values"),
            ("[factors.x]\na = \"'\"\n", "an unclosed quote"),
            ("[factors]\nworkers = [1, 2]\n[[cell]]\nname = \"x\"\n", "both [factors] and"),
        ] {
            let found = of(text).expect_err(text);
            assert!(found.contains(why), "{text}: {found}");
        }
        let many = format!("[factors]\nworkers = {:?}\n", (1..=65).collect::<Vec<_>>());
        assert!(of(&many).expect_err("too many").contains("more than 64"));
    }
}
