//! Reads types out of the sources of the model: their fields and variants by the names that serde
//! gives them, and their `///`.
//!
//! It knows the forms that the record has, and names what it cannot read; what a type of Rust is in
//! JSON is in `json_words.rs`.

use crate::tree::SourceTree;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::mem;

/// Where the types are.
const SOURCES: &str = "crates/dbtime-model/src/";

/// What begins a type whose variants are words (`crates/dbtime-model/src/record/values.rs`).
const WORDS: &str = "record_words! {";

/// What stands before a type, a field or a variant.
#[derive(Clone, Debug, Default)]
pub(super) struct MemberHead {
    /// Its `///`, on one line.
    pub(super) doc: String,
    /// Whether serde writes the type field by field.
    pub(super) is_derived: bool,
    /// What its `#[serde(…)]` have, key by key.
    keys: Vec<String>,
    /// Whether an attribute goes on in the next line.
    is_open: bool,
}

impl MemberHead {
    /// Takes a line that belongs to a head; whether it is one.
    fn takes(&mut self, line: &str) -> bool {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("///") {
            let blank = if self.doc.is_empty() || text.is_empty() { "" } else { " " };
            self.doc += blank;
            self.doc += text.trim();
        } else if self.is_open || line.starts_with("#[") {
            self.is_open = !line.ends_with(']');
            self.is_derived |= line.contains("Serialize");
            let keys = line.strip_prefix("#[serde(").map(|line| line.trim_end_matches(")]"));
            self.keys.extend(keys.into_iter().flat_map(|keys| keys.split(", ")).map(str::to_owned));
        } else {
            return false;
        }
        true
    }

    /// The value of one of serde's keys: empty of one without, `None` where the key is not there.
    pub(super) fn serde(&self, key: &str) -> Option<&str> {
        self.keys.iter().find_map(|given| {
            let rest = given.strip_prefix(key)?;
            let value = rest.strip_prefix(" = ").map(|value| value.trim_matches('"'));
            value.or_else(|| rest.is_empty().then_some(""))
        })
    }
}

/// A type as it stands in a source.
#[derive(Clone, Debug)]
pub(super) struct SourceType<'a> {
    /// What stands before it.
    pub(super) head: MemberHead,
    /// Whether it has fields; else it has variants.
    pub(super) is_struct: bool,
    /// The lines between its braces.
    lines: Vec<&'a str>,
}

/// A field or a variant.
#[derive(Clone, Debug)]
pub(super) struct TypeMember {
    /// As it stands in JSON.
    pub(super) name: String,
    /// The type of Rust that it holds; `None`: it is a word.
    pub(super) holds: Option<String>,
    /// What stands before it.
    pub(super) head: MemberHead,
}

impl SourceType<'_> {
    /// The fields or variants that are written, in their order.
    ///
    /// Errors: one of a form that is not read here, or without `///`.
    pub(super) fn members(&self) -> Result<Vec<TypeMember>> {
        let mut members = Vec::new();
        let mut head = MemberHead::default();
        for line in &self.lines {
            let line = line.trim().trim_start_matches("+ ");
            if line.is_empty() || head.takes(line) || line.starts_with("//") {
                continue;
            }
            let head = mem::take(&mut head);
            if head.serde("skip").is_none() {
                members.push(self.member(line, head)?);
            }
        }
        Ok(members)
    }

    fn member(&self, line: &str, head: MemberHead) -> Result<TypeMember> {
        let parsed = if self.is_struct { field(line) } else { variant(line) };
        let (name, holds) = parsed.with_context(|| {
            format!("`{line}` is no field or variant of a form that xtask reads: write it plainly")
        })?;
        ensure!(!head.doc.is_empty(), "`{name}` has no `///`: explain it there");
        let name = self.json_name(name, &head)?;
        Ok(TypeMember { name, holds, head })
    }

    fn json_name(&self, name: String, head: &MemberHead) -> Result<String> {
        if let Some(given) = head.serde("rename") {
            return Ok(given.to_owned());
        }
        Ok(match self.head.serde("rename_all") {
            None => name,
            Some("snake_case") if self.is_struct => name,
            Some("snake_case") => small_words(&name, '_'),
            Some("kebab-case") if !self.is_struct => small_words(&name, '-'),
            Some(case) => bail!("xtask does not know the case `{case}`: teach it to `json_name`"),
        })
    }
}

/// `pub name: Type,`
fn field(line: &str) -> Option<(String, Option<String>)> {
    let (before, holds) = line.strip_suffix(',')?.split_once(": ")?;
    let name = before.rsplit(' ').next()?;
    Some((name.to_owned(), Some(holds.to_owned())))
}

/// `Word,`, `Word(Type),`, and of words `Word = "word",` and `Word(Type) = "beginning", …,`
fn variant(line: &str) -> Option<(String, Option<String>)> {
    if let Some((before, rest)) = line.split_once(" = \"") {
        let word = rest.split('"').next()?;
        let more = if before.ends_with(')') { "…" } else { "" };
        return Some((format!("{word}{more}"), None));
    }
    let line = line.strip_suffix(',')?;
    if let Some((name, holds)) = line.strip_suffix(')').and_then(|line| line.split_once('(')) {
        return Some((name.to_owned(), Some(holds.to_owned())));
    }
    line.chars().all(char::is_alphanumeric).then(|| (line.to_owned(), None))
}

/// A name of several words with a capital each, in small letters with a sign between the words.
pub(crate) fn small_words(name: &str, between: char) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push(between);
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// The types of the model by their names, those of tests left out.
pub(super) fn types(tree: &SourceTree) -> BTreeMap<&str, SourceType<'_>> {
    let mut types = BTreeMap::new();
    let is_product = |path: &str| path.ends_with(".rs") && !path.ends_with("tests.rs");
    for file in tree.files.iter().filter(|file| file.path.starts_with(SOURCES)) {
        if is_product(&file.path) {
            read(&file.text, &mut types);
        }
    }
    types
}

/// Adds the types of one source: what is indented is within a function, a macro or the tests.
fn read<'a>(text: &'a str, types: &mut BTreeMap<&'a str, SourceType<'a>>) {
    let mut head = MemberHead::default();
    let mut indent = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == WORDS || line == "}" {
            indent = if line == WORDS { "    " } else { "" };
            continue;
        }
        let outdented = |line: &'a str| line.strip_prefix(indent).unwrap_or(line);
        let line = outdented(line);
        if head.takes(line) {
            continue;
        }
        let mut head = mem::take(&mut head);
        if let Some((name, is_struct)) = defined(line, !indent.is_empty()) {
            let inside = lines.by_ref().map(outdented).take_while(|line| *line != "}");
            head.is_derived |= !indent.is_empty();
            types.insert(name, SourceType { head, is_struct, lines: inside.collect() });
        }
    }
}

/// The name of the type that begins in a line, and whether it is a struct.
fn defined(line: &str, is_words: bool) -> Option<(&str, bool)> {
    let line = line.strip_suffix(" {")?;
    if is_words {
        return Some((line, false));
    }
    let mut visible = ["pub(crate) ", "pub(super) ", "pub "].into_iter();
    let line = visible.find_map(|word| line.strip_prefix(word)).unwrap_or(line);
    let (keyword, name) = line.split_once(' ')?;
    let name = name.split('<').next().unwrap_or(name);
    matches!(keyword, "struct" | "enum").then_some((name, keyword == "struct"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str, name: &str) -> Result<Vec<(String, Option<String>, String)>> {
        let mut types = BTreeMap::new();
        read(text, &mut types);
        let members = types[name].members()?;
        Ok(members.into_iter().map(|one| (one.name, one.holds, one.head.doc)).collect())
    }

    fn member(name: &str, holds: Option<&str>, doc: &str) -> (String, Option<String>, String) {
        (name.to_owned(), holds.map(str::to_owned), doc.to_owned())
    }

    #[test]
    fn fields_have_the_names_that_serde_gives_them() {
        let text = "/// Not it.\nfn f() {\n    struct Inner {\n    }\n}\n\n/// A.\n\
                    #[derive(\n    Clone, Serialize,\n)]\npub(crate) struct OneType<'a> {\n\
                    \x20   /// How long,\n    ///\n    /// in all.\n\
                    \x20   #[serde(default, rename = \"length_us\")]\n    pub length: Nanos,\n\
                    \x20   /// B.\n    #[serde(skip)]\n    hidden: u8,\n    // Why.\n\
                    \x20   /// C.\n    name: Option<Cow<'a, str>>,\n}\n";
        let expected = [
            member("length_us", Some("Nanos"), "How long, in all."),
            member("name", Some("Option<Cow<'a, str>>"), "C."),
        ];
        assert_eq!(members(text, "OneType").expect("two fields"), expected);
        let mut types = BTreeMap::new();
        read(text, &mut types);
        assert_eq!(types.keys().copied().collect::<Vec<_>>(), ["OneType"]);
        let one = &types["OneType"];
        assert!(one.is_struct && one.head.is_derived);
        assert_eq!(one.head.doc, "A.");
    }

    #[test]
    fn variants_are_words_or_hold_a_type() {
        let text = "#[derive(Serialize)]\n#[serde(tag = \"kind\", rename_all = \"kebab-case\")]\n\
                    pub enum TwoKinds {\n    /// A.\n    #[default]\n    AtOnce,\n\
                    \x20   /// B.\n    #[serde(untagged)]\n    Part(Part),\n}\n";
        let expected = [member("at-once", None, "A."), member("part", Some("Part"), "B.")];
        assert_eq!(members(text, "TwoKinds").expect("two variants"), expected);
        let mut types = BTreeMap::new();
        read(text, &mut types);
        assert_eq!(types["TwoKinds"].head.serde("tag"), Some("kind"));
        assert_eq!(types["TwoKinds"].head.serde("rename"), None);
    }

    #[test]
    fn words_of_the_record_are_read_from_their_macro() {
        let text = "record_words! {\n    /// A.\n    LoadKind {\n        /// B.\n\
                    \x20       AtOnce = \"at-once\",\n\
                    \x20       + /// C.\n        Burst(u64) = \"burst:\", |t| t.ok(), f,\n\
                    \x20   }\n}\n\n/// D.\n#[derive(Serialize)]\npub struct NextType {\n\
                    \x20   /// E.\n    pub a: u8,\n}\n";
        let expected = [member("at-once", None, "B."), member("burst:…", None, "C.")];
        assert_eq!(members(text, "LoadKind").expect("two words"), expected);
        assert_eq!(members(text, "NextType").expect("a field"), [member("a", Some("u8"), "E.")]);
    }

    #[test]
    fn what_is_not_read_is_named() {
        let of = |inside: &str| {
            let text =
                format!("#[serde(rename_all = \"UPPERCASE\")]\nenum OneKind {{\n{inside}\n}}\n");
            members(&text, "OneKind").expect_err("unreadable").to_string()
        };
        assert!(of("    /// A.\n    Begun { a: u8 },").contains("`Begun { a: u8 },` is no field"));
        assert!(of("    Begun,").contains("`Begun` has no `///`"));
        assert!(of("    /// A.\n    Begun,").contains("the case `UPPERCASE`"));
    }
}
