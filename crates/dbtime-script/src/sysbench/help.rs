//! The text of `dbtime sysbench --help`, and of a script's own `help`.

use super::options::{DeclaredOption, KNOWN, OptionSection, OptionValue};
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
Usage:
  dbtime sysbench [OPTION]... SCRIPT [COMMAND]

Runs a script written for sysbench. SCRIPT is a file, or the name of one where sysbench's scripts
are installed. Most scripts know the commands prepare, run, cleanup and help. An option is written
--name=value; - and _ within a name are the same, and a switch alone is on.
";

const SECTIONS: [(OptionSection, &str); 9] = [
    (OptionSection::General, "General options"),
    (OptionSection::Random, "Pseudo-Random Numbers Generator options"),
    (OptionSection::Log, "Log options"),
    (OptionSection::Database, "General database options"),
    (OptionSection::Mysql, "mysql options"),
    (OptionSection::Pgsql, "pgsql options"),
    (OptionSection::Sqlite, "sqlite options"),
    (OptionSection::Dbtime, "Options that sysbench does not have"),
    (OptionSection::Older, "Older names of options"),
];

/// All options that are always there.
pub fn general() -> String {
    let mut text = INTRODUCTION.to_owned();
    for (section, title) in SECTIONS {
        let _ = write!(text, "\n{title}:\n");
        let rows = KNOWN.iter().filter(|known| known.section == section).map(|known| {
            let default = Some(known.default).filter(|default| !default.is_empty());
            (format!("--{}{}", known.name, known.kind.form()), known.about, default)
        });
        table(&mut text, &rows.collect::<Vec<_>>());
    }
    text + "\n'dbtime sysbench SCRIPT help' shows the options of a script.\n"
}

/// The options that a script declares, by name.
pub fn of_script(script: &str, declared: &[DeclaredOption]) -> String {
    let mut rows: Vec<_> = declared.iter().collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    let defaults: Vec<_> = rows.iter().map(|declared| written(&declared.default)).collect();
    let rows = rows.iter().zip(&defaults).map(|(declared, default)| {
        let name = format!("--{}{}", declared.name, declared.kind.form());
        (name, declared.description.as_str(), default.as_deref())
    });
    let mut text = format!("{script} options:\n");
    table(&mut text, &rows.collect::<Vec<_>>());
    text + "\n"
}

fn table(text: &mut String, rows: &[(String, &str, Option<&str>)]) {
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    for (name, about, default) in rows {
        let _ = write!(text, "  {name:<width$} {about}");
        let _ = default.map_or(Ok(()), |default| write!(text, " [{default}]"));
        text.push('\n');
    }
}

/// A default as it would be written.
fn written(value: &OptionValue) -> Option<String> {
    Some(match value {
        OptionValue::None => return None,
        OptionValue::Bool(true) => "on".to_owned(),
        OptionValue::Bool(false) => "off".to_owned(),
        OptionValue::Number(number) => number.to_string(),
        OptionValue::Text(text) => text.clone(),
        OptionValue::List(items) => items.join(","),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysbench::options::OptionType;

    #[test]
    fn every_option_is_in_the_help_text_once() {
        let text = general();
        for known in KNOWN {
            let shown = format!("\n  --{}{} ", known.name, known.kind.form());
            assert_eq!(text.matches(&shown).count(), 1, "{}", known.name);
        }
        assert!(text.contains(" user [sbtest]\n"));
    }

    #[test]
    fn a_scripts_options_are_listed_as_sysbench_lists_them() {
        let declare = |name: &str, about: &str, default, kind| DeclaredOption {
            name: name.into(),
            description: about.into(),
            default,
            kind,
            has_validate: false,
        };
        let declared = [
            declare("tables", "Number of tables", OptionValue::Number(1.0), OptionType::Double),
            declare("auto_inc", "Use it", OptionValue::Bool(true), OptionType::Bool),
            declare("pgsql_variant", "Variant", OptionValue::None, OptionType::Text),
        ];
        let expected = "\
oltp_read_write options:
  --auto_inc[=on|off]    Use it [on]
  --pgsql_variant=STRING Variant
  --tables=N             Number of tables [1]

";
        assert_eq!(of_script("oltp_read_write", &declared), expected);
    }
}
