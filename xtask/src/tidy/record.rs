//! Rules for the documents of the record: every field, every part and every kind of warning is
//! explained.

use crate::tree::{SourceTree, TidyProblem};

/// Where the types of the files of a run are, and where they are explained.
const TYPES: [&str; 3] = [
    "crates/dbtime-model/src/record",
    "crates/dbtime-model/src/spec",
    "crates/dbtime-model/src/counters",
];
const FORMAT: &str = "docs/record-format.md";

/// The fields of a traced request, which are private.
const TRACED: &str = "crates/dbtime-model/src/traced_json.rs";

/// Where parts and warnings are named, and where they are explained.
const PARTS: &str = "crates/dbtime-model/src/parts/part.rs";
const WARNINGS: &str = "crates/dbtime-model/src/record/validity.rs";
const MEASUREMENT: &str = "docs/measurement.md";

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let text = |path| tree.file(path).map_or("", |file| file.text.as_str());
    let unexplained = |document: &'static str, what: &'static str, names: Vec<String>| {
        let names = names.into_iter().filter(move |name| {
            let quoted = format!("`{name}`");
            !text(document).contains(&quoted)
        });
        names
            .map(move |name| TidyProblem::of(document, format!("{what} `{name}` is not explained")))
    };
    let types = TYPES.iter().flat_map(|folder| tree.within(folder));
    let fields = types.flat_map(|file| fields(&file.text, "    pub "));
    let fields = fields.chain(self::fields(text(TRACED), "    ")).collect();
    let warnings = variants(text(WARNINGS), "WarningKind");
    unexplained(FORMAT, "the field", fields)
        .chain(unexplained(MEASUREMENT, "the warning", warnings))
        .chain(unexplained(MEASUREMENT, "the part", parts(text(PARTS))))
        .collect()
}

/// Fields of the structs that are written to a record.
fn fields(text: &str, before: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]").next().unwrap_or(text);
    let mut names = Vec::new();
    let mut is_written = false;
    for line in text.lines() {
        if let Some(derives) = line.strip_prefix("#[derive(") {
            is_written = derives.contains("Serialize");
        }
        is_written &= line != "}";
        let field = line.strip_prefix(before).filter(|_| is_written);
        let name = field.and_then(|field| Some(field.split_once(':')?.0));
        let is_name =
            |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || "_0123456789".contains(c));
        names.extend(name.filter(is_name).map(str::to_owned));
    }
    names
}

/// Names of the parts: `Self::IoRead => "io_read",` in the function that names them.
fn parts(text: &str) -> Vec<String> {
    let body = text.split("pub fn name(").nth(1).unwrap_or("").split("\n    }\n").next();
    let lines = body.unwrap_or("").lines();
    lines.filter_map(|line| line.split('"').nth(1)).map(str::to_owned).collect()
}

/// Variants of an enum, as a record spells them.
fn variants(text: &str, name: &str) -> Vec<String> {
    let body = text.split(&format!("enum {name} {{")).nth(1).unwrap_or("").split('}').next();
    let lines = body.unwrap_or("").lines().map(str::trim);
    let names = lines.filter_map(|line| line.strip_suffix(','));
    names.map(snake_case).collect()
}

fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_sources() {
        let text = "#[derive(Serialize)]\npub struct A {\n    /// X.\n    pub a_b2: u8,\n}\n\
                    #[derive(Debug)]\npub struct B {\n    pub hidden: u8,\n}\n";
        assert_eq!(fields(text, "    pub "), ["a_b2"]);
        let text = "pub enum Kind {\n    /// X.\n    FewSamples,\n    #[default]\n    Steal,\n}\n";
        assert_eq!(variants(text, "Kind"), ["few_samples", "steal"]);
        let text = "pub fn name(self) {\n        Self::IoRead => \"io_read\",\n    }\n\"other\"";
        assert_eq!(parts(text), ["io_read"]);
    }

    #[test]
    fn a_field_without_explanation_is_found() {
        let tree = crate::tree::of(&[
            ("crates/dbtime-model/src/record/mod.rs", "#[derive(Serialize)]\n    pub a: u8,\n"),
            (FORMAT, "nothing"),
        ]);
        assert_eq!(check(&tree).len(), 1);
    }

    #[test]
    fn the_workspace_has_fields_parts_and_warnings() {
        let tree = SourceTree::read().expect("the workspace");
        let text = |path| tree.file(path).expect(path).text.as_str();
        assert!(fields(text("crates/dbtime-model/src/record/mod.rs"), "    pub ").len() > 50);
        assert!(fields(text(TRACED), "    ").len() > 30);
        assert!(parts(text(PARTS)).len() >= 22);
        assert!(variants(text(WARNINGS), "WarningKind").len() >= 14);
    }
}
