//! A comparison as Markdown, for a comment, the summary of a CI job, or a wiki.

use super::groups::{self, GroupComparison};
use super::study::{self, StudyComparison};
use super::tables::{ComparedFact, TextTable};
use crate::format::clean;
use std::fmt::Write as _;

/// Two groups of runs: the verdict, what there is to say of it, and the tables.
///
/// Shape: blocks with an empty line between, the last line ended; GitHub's dialect (tables).
pub fn groups_markdown(compared: &GroupComparison) -> String {
    let sides = [("A", &compared.a), ("B", &compared.b)];
    let sides = sides.map(|(name, side)| ComparedFact::new(name, side.text()));
    let unlike = compared.unlike.iter().map(|text| ComparedFact::new("attention", text.clone()));
    let facts: Vec<_> = compared.facts().into_iter().chain(unlike).chain(sides).collect();
    document("Two groups of runs", &facts, &groups::of_groups(compared))
}

/// A study: the verdicts, what there is to say of them, and the tables.
///
/// Shape: as [`groups_markdown`].
pub fn study_markdown(compared: &StudyComparison) -> String {
    let title = format!("Study {}", clean(&compared.name));
    document(&title, &compared.facts(), &study::of_study(compared))
}

fn document(title: &str, facts: &[ComparedFact], tables: &[TextTable]) -> String {
    let mut text = format!("## {}\n\n", escaped(title));
    let mut last = "";
    for fact in facts {
        // What goes on with the fact before is part of it.
        let name = if fact.name.is_empty() { last } else { fact.name };
        let shown = escaped(&fact.text);
        // Writing into a `String` cannot fail.
        let _ = match (fact.is_verdict, name == last) {
            (true, _) => writeln!(text, "- {}: **{shown}**", escaped(name)),
            (false, true) => writeln!(text, "  - {shown}"),
            (false, false) => writeln!(text, "- {}: {shown}", escaped(name)),
        };
        last = name;
    }
    for table in tables {
        let _ = write!(text, "\n### {}\n\n{}", escaped(table.title), rows(table));
        if !table.note.is_empty() {
            let _ = write!(text, "\n{}\n", escaped(&table.note));
        }
    }
    text
}

fn rows(table: &TextTable) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = table.headings.iter();
    let names = heads.clone().map(|head| escaped(&head.text.replace('\n', " ")));
    let rules = heads.map(|head| if head.is_figure { "--:" } else { "---" }.to_owned());
    let mut text = line(names.collect()) + &line(rules.collect());
    for row in &table.rows {
        text += &line(row.iter().map(|cell| escaped(cell)).collect());
    }
    text
}

/// A text in which nothing is markup, on one line.
fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => plain += "&lt;",
            '>' => plain += "&gt;",
            '&' => plain += "&amp;",
            '\n' | '\r' => plain.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '@' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::tables::{figure, name};
    use super::*;

    #[test]
    fn no_name_is_markup_and_none_ends_its_cell() {
        let hostile = "a|b `c` <script> *x* [y](z) @all\n# d";
        let table = TextTable {
            title: "Runs",
            headings: vec![name("Run"), figure("Value")],
            rows: vec![vec![hostile.to_owned(), "1".to_owned()]],
            note: "100 %".to_owned(),
        };
        let facts = [
            ComparedFact::verdict("verdict", hostile.to_owned()),
            ComparedFact::new("", "on p99".to_owned()),
        ];
        let text = document(hostile, &facts, &[table]);
        let expected = "\\a".trim_start_matches('\\').to_owned()
            + "\\|b \\`c\\` &lt;script&gt; \\*x\\* \\[y\\](z) \\@all \\# d";
        assert_eq!(text.matches(&expected).count(), 3, "{text}");
        assert!(text.contains("| Run | Value |\n| --- | --: |\n| a\\|b"), "{text}");
        assert!(text.contains("- verdict: **a") && text.contains("\n  - on p99\n"), "{text}");
        assert!(text.ends_with("\n100 %\n"), "{text}");
    }
}
