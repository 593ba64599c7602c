//! Writes `docs/record-format.md`: the types of the record as their sources explain them, within a
//! frame that explains what is no field.
//!
//! A line `{{NAME}}` of the frame stands for that type and for all types that it has and that are
//! not above yet, in the order in which they are named first.

mod json_words;
mod reader;

pub(crate) use reader::small_words;

use crate::tree::SourceTree;
use anyhow::{Context, Result, ensure};
use reader::{MemberHead, SourceType, TypeMember};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::fs;

/// The page, from the root of the workspace.
pub(crate) const PAGE: &str = "docs/record-format.md";

/// A type of so many words at most has no section: the line that names it first explains it.
const FEW_WORDS: usize = 4;

/// Types whose names of fields or words say enough: they stand in one line.
const NAMES_ALONE: [&str; 11] = [
    "BlockerJson",
    "BlockingTransaction",
    "CheckMetric",
    "ExecutedStatement",
    "LatencyUs",
    "LoadSpec",
    "Preemptor",
    "ServerQueueParts",
    "SpanInfo",
    "TargetSpec",
    "WindowSpec",
];

/// What is written by hand.
const FRAME: &str = include_str!("frame.txt");

/// Writes the page.
///
/// Errors: arguments, a type that is not as xtask reads them, a file that cannot be written.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "record-format takes no arguments: it writes {PAGE}");
    let tree = SourceTree::read()?;
    let path = tree.root.join(PAGE);
    fs::write(&path, page(&tree)?).with_context(|| format!("cannot write {}", path.display()))
}

/// What the page has to be.
///
/// Errors: a type that is not there, or not as xtask reads them.
pub(crate) fn page(tree: &SourceTree) -> Result<String> {
    filled(FRAME, tree)
}

fn filled(frame: &str, tree: &SourceTree) -> Result<String> {
    let types = reader::types(tree);
    let mut sections = TypeSections {
        types: &types,
        written: BTreeSet::new(),
        queue: VecDeque::new(),
        inlined: BTreeMap::new(),
    };
    let mut page = String::new();
    for line in frame.lines() {
        match line.strip_prefix("{{").and_then(|line| line.strip_suffix("}}")) {
            Some(root) => page += &sections.of(root)?,
            None => {
                page += line;
                page.push('\n');
            }
        }
    }
    Ok(page)
}

/// The sections of the page, a type each.
struct TypeSections<'a> {
    types: &'a BTreeMap<&'a str, SourceType<'a>>,
    /// Types that have one.
    written: BTreeSet<String>,
    /// Types that are to have one.
    queue: VecDeque<String>,
    /// Types without one, with the member whose line explains their words.
    inlined: BTreeMap<String, String>,
}

impl TypeSections<'_> {
    /// The sections of a type and of what it has, as far as they are not written yet.
    fn of(&mut self, root: &str) -> Result<String> {
        self.queue.push_back(root.to_owned());
        let mut sections = Vec::new();
        while let Some(name) = self.queue.pop_front() {
            if self.written.insert(name.clone()) {
                let section = self.section(&name);
                sections.push(section.with_context(|| format!("cannot explain `{name}`"))?);
            }
        }
        Ok(sections.join("\n"))
    }

    /// The section of a type. The first sentence of its text is left out: the name of the type and
    /// the member that has it say as much.
    fn section(&mut self, name: &str) -> Result<String> {
        let types = self.types;
        let of = types.get(name).context("the model has no such type")?;
        ensure!(
            of.head.is_derived,
            "serde does not derive it: put how it is written into xtask/src/record_format/json_words.rs"
        );
        ensure!(!of.head.doc.is_empty(), "it has no `///`: explain it there");
        let mut intro = of.head.doc.split_once(". ").map_or(String::new(), |(_, rest)| plain(rest));
        if let Some(tag) = of.head.serde("tag") {
            let _ = write!(intro, "\nIts field `{tag}` is one of these:");
        }
        let mut text = format!("### {name}\n\n");
        if !intro.is_empty() {
            let _ = writeln!(text, "{}\n", intro.trim_start());
        }
        if NAMES_ALONE.contains(&name) {
            text += &self.names(of)?;
            return Ok(text);
        }
        for member in of.members()? {
            text += &self.line(name, of, &member);
        }
        Ok(text)
    }

    /// The line of a type whose names say enough.
    fn names(&mut self, of: &SourceType<'_>) -> Result<String> {
        let types = self.types;
        let mut named = Vec::new();
        let members = of.members()?;
        let labels = members.iter().map(|member| self.label(of, member, &mut named));
        let line = labels.collect::<Vec<_>>().join(", ");
        let is_section = |name: &String| types.get(name.as_str()).and_then(few_words).is_none();
        self.queue.extend(named.into_iter().filter(is_section));
        Ok(format!("{line}.\n"))
    }

    /// The line of a field or variant: a type of a few words is explained where it is named first.
    fn line(&mut self, name: &str, of: &SourceType<'_>, member: &TypeMember) -> String {
        let types = self.types;
        let mut named = Vec::new();
        let label = self.label(of, member, &mut named);
        let mut line = format!("- {label}{}", explained(member));
        for inner in named {
            let Some(words) = types.get(inner.as_str()).and_then(few_words) else {
                self.queue.push_back(inner);
                continue;
            };
            if let Entry::Vacant(first) = self.inlined.entry(inner) {
                first.insert(format!("{name}.{}", member.name));
                for word in words {
                    let _ = write!(line, " `{}`{}", word.name, explained(&word));
                }
            }
        }
        line.push('\n');
        line
    }

    /// What stands before the text of a field or variant; adds the types that it has to `named`.
    fn label(&self, of: &SourceType<'_>, member: &TypeMember, named: &mut Vec<String>) -> String {
        let TypeMember { name, holds, head } = member;
        let Some(holds) = holds else { return format!("`{name}`") };
        // What is written by a function of its own is written as a text.
        let holds = match head.serde("with") {
            Some(_) => holds.replace("Nanos", "String"),
            None => holds.clone(),
        };
        let words = json_words::json_words(&holds, &mut |name: &str| {
            named.push(name.to_owned());
            match self.inlined.get(name) {
                Some(first) => format!("as `{first}`"),
                None if self.types.get(name).and_then(few_words).is_some() => "text".to_owned(),
                None => format!("[{name}](#{})", name.to_lowercase()),
            }
        });
        if head.serde("flatten").is_some() {
            return format!("the fields of {words}");
        }
        if of.head.serde("untagged").or(head.serde("untagged")).is_some() {
            return words;
        }
        if of.head.serde("tag").is_some() {
            return format!("`{name}`, beside the fields of {words}");
        }
        noted(name, &words, head)
    }
}

/// The members of a type that is a few words, none with a type of its own.
fn few_words(of: &SourceType<'_>) -> Option<Vec<TypeMember>> {
    let words = of.members().ok().filter(|_| !of.is_struct && of.head.is_derived)?;
    let are_few = words.len() <= FEW_WORDS && words.iter().all(|word| word.holds.is_none());
    are_few.then_some(words)
}

/// The text of a field or variant behind its name: a full stop where it repeats the name.
fn explained(member: &TypeMember) -> String {
    let name = member.name.replace(['_', '-'], " ");
    let doc = plain(&member.head.doc);
    if doc.trim_end_matches('.').eq_ignore_ascii_case(&name) {
        return ".".to_owned();
    }
    format!(": {doc}")
}

/// A field with its type in JSON, which goes unsaid of a number, and with its former name.
fn noted(name: &str, words: &str, head: &MemberHead) -> String {
    let (words, or) = match head.serde("skip_serializing_if") {
        Some(_) => (words.trim_end_matches('?'), " or absent"),
        None => (words, ""),
    };
    let words = if words == "number" { "" } else { words };
    let once = head.serde("alias").map_or(String::new(), |old| format!("; once `{old}`"));
    match format!("{words}{or}{once}").trim_start_matches([' ', ';']) {
        "" => format!("`{name}`"),
        note => format!("`{name}` ({note})"),
    }
}

/// A `///` without what only rustdoc knows.
fn plain(doc: &str) -> String {
    doc.replace("[`", "`").replace("`]", "`").replace("`None`", "`null`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    /// What a frame becomes with these types.
    fn page_of(frame: &str, text: &str) -> Result<String> {
        filled(frame, &tree::of(&[("crates/dbtime-model/src/record/mod.rs", text)]))
    }

    const RUN: &str = "/// One run.\n#[derive(Serialize)]\npub struct OneRun {\n\
        \x20   /// See [`SCHEMA`].\n    pub schema: u32,\n\
        \x20   /// How it went; `None`: not known.\n    pub going: Option<GoingKind>,\n\
        \x20   /// Its parts.\n    #[serde(rename = \"parts_us\", alias = \"sums\")]\n\
        \x20   pub parts: Vec<OnePart>,\n\
        \x20   /// The rest.\n    #[serde(flatten)]\n    pub rest: OneRest,\n}\n\
        /// A part. It is short.\n#[derive(Serialize)]\npub struct OnePart {\n\
        \x20   /// How long.\n    #[serde(with = \"duration_text\")]\n    pub time: Option<Nanos>,\n\
        \x20   /// Of which.\n    #[serde(skip_serializing_if = \"Vec::is_empty\")]\n\
        \x20   pub inner: Vec<OnePart>,\n}\n\
        /// The rest.\n#[derive(Serialize)]\n\
        pub struct OneRest {\n    /// Whether.\n    pub a: bool,\n}\n\
        /// How a run went.\n#[derive(Serialize)]\n#[serde(rename_all = \"snake_case\")]\n\
        enum GoingKind {\n    /// Well.\n    VeryWell,\n\
        \x20   /// As a part.\n    #[serde(untagged)]\n    Part(OnePart),\n}\n";

    #[test]
    fn types_are_written_once_in_the_order_in_which_they_are_named() {
        let page = page_of("# Frame\n\n{{OneRun}}\n{{OnePart}}\n\n## End\n", RUN).expect("a page");
        let expected = "# Frame\n\n### OneRun\n\n- `schema`: See `SCHEMA`.\n\
            - `going` ([GoingKind](#goingkind)?): How it went; `null`: not known.\n\
            - `parts_us` ([OnePart](#onepart)[]; once `sums`): Its parts.\n\
            - the fields of [OneRest](#onerest): The rest.\n\n\
            ### GoingKind\n\n- `very_well`: Well.\n\
            - [OnePart](#onepart): As a part.\n\n\
            ### OnePart\n\nIt is short.\n\n- `time` (text?): How long.\n\
            - `inner` ([OnePart](#onepart)[] or absent): Of which.\n\n\
            ### OneRest\n\n- `a` (boolean): Whether.\n\n## End\n";
        assert_eq!(page, expected);
    }

    #[test]
    fn an_enum_with_a_tag_names_its_field() {
        let text = "/// A document.\n#[derive(Serialize)]\n\
                    #[serde(tag = \"document\", rename_all = \"snake_case\")]\n\
                    pub enum OneDocument {\n    /// A sample.\n    OneSample(OneSample),\n}\n\
                    /// A sample.\n#[derive(Serialize)]\n\
                    struct OneSample {\n    /// A.\n    a: u8,\n}\n";
        let page = page_of("{{OneDocument}}", text).expect("a page");
        let expected = "### OneDocument\n\nIts field `document` is one of these:\n\n\
            - `one_sample`, beside the fields of [OneSample](#onesample): A sample.\n\n\
            ### OneSample\n\n- `a`.\n";
        assert_eq!(page, expected);
    }

    #[test]
    fn a_few_words_are_explained_where_they_are_named_first() {
        let text = "/// A run.\n#[derive(Serialize)]\npub struct OneRun {\n\
                    \x20   /// How it went.\n    pub going: FinishKind,\n\
                    \x20   /// How it ended.\n    pub ended: Option<FinishKind>,\n}\n\
                    /// How a run goes.\n#[derive(Serialize)]\n\
                    #[serde(rename_all = \"snake_case\")]\n\
                    pub enum FinishKind {\n    /// Very well.\n    VeryWell,\n\
                    \x20   /// Not at all.\n    Badly,\n}\n";
        let page = page_of("{{OneRun}}", text).expect("a page");
        let expected = "### OneRun\n\n\
            - `going` (text): How it went. `very_well`. `badly`: Not at all.\n\
            - `ended` (as `OneRun.going`?): How it ended.\n";
        assert_eq!(page, expected);
    }

    #[test]
    fn a_type_whose_names_say_enough_is_a_line() {
        let text = "/// A run.\n#[derive(Serialize)]\npub struct OneRun {\n\
                    \x20   /// Its latency.\n    pub latency: LatencyUs,\n}\n\
                    /// A latency. In microseconds.\n#[derive(Serialize)]\npub struct LatencyUs {\n\
                    \x20   /// The mean.\n    pub mean: f64,\n\
                    \x20   /// How sure that is.\n    pub range: Option<OneRange>,\n}\n\
                    /// A range.\n#[derive(Serialize)]\npub struct OneRange {\n\
                    \x20   /// Its end.\n    pub end: f64,\n}\n";
        let page = page_of("{{OneRun}}", text).expect("a page");
        let expected = "### OneRun\n\n- `latency` ([LatencyUs](#latencyus)): Its latency.\n\n\
            ### LatencyUs\n\nIn microseconds.\n\n`mean`, `range` ([OneRange](#onerange)?).\n\n\
            ### OneRange\n\n- `end`: Its end.\n";
        assert_eq!(page, expected);
    }

    #[test]
    fn a_type_that_cannot_be_explained_is_named() {
        let error = |text: &str| format!("{:#}", page_of("{{OneRun}}", text).expect_err("none"));
        assert_eq!(error(""), "cannot explain `OneRun`: the model has no such type");
        let text = "/// A.\npub struct OneRun {\n}\n";
        assert!(error(text).contains("cannot explain `OneRun`: serde does not derive it"));
        let text = "/// A.\n#[derive(Serialize)]\npub struct OneRun {\n    pub a: u8,\n}\n";
        assert!(error(text).ends_with("`a` has no `///`: explain it there"));
        let text =
            "/// A.\n#[derive(Serialize)]\npub struct OneRun {\n    /// A.\n    a: (u8, u8),\n}\n";
        assert_eq!(error(text), "cannot explain `(u8, u8)`: the model has no such type");
    }
}
