//! `[dictionaries.NAME]`: words from a file, a list or a template.

use super::is_sql_name;
use crate::keys::dictionary::{DictionaryWords, WordDictionary, WordOrder};
use crate::keys::template::TextTemplate;
use crate::workload::WorkloadError;
use crate::workload::document::{DocumentNode, DocumentResult, DocumentSection};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

pub(super) type WordDictionaries = BTreeMap<String, Arc<WordDictionary>>;

/// Words of a list or a file at most.
const WORDS_MAX: usize = 10_000_000;
/// The largest dictionary file, in bytes.
const FILE_MAX: u64 = 256 << 20;

pub(super) fn read(root: &DocumentSection<'_, '_>) -> DocumentResult<WordDictionaries> {
    let Some(node) = root.get("dictionaries") else { return Ok(BTreeMap::new()) };
    let entry = |(name, node): (&str, DocumentNode<'_, '_>)| {
        if !is_sql_name(name) {
            return Err(node.refuse(
                format!("dictionary name `{}`", crate::workload::document::abridged(name)),
                "a name of ASCII letters, digits and `_`",
            ));
        }
        let section = node.section(&format!("dictionary `{name}`"))?;
        Ok((name.to_owned(), Arc::new(dictionary(&section)?)))
    };
    node.section("dictionaries")?.entries().map(entry).collect()
}

fn dictionary(section: &DocumentSection<'_, '_>) -> DocumentResult<WordDictionary> {
    section.allow(&["file", "list", "template", "count", "first", "order"])?;
    let order = match section.get("order") {
        None => WordOrder::Random,
        Some(node) => match node.text()? {
            "random" => WordOrder::Random,
            "sequential" => WordOrder::Sequential,
            "unique" => WordOrder::Unique,
            _ => return Err(node.unexpected("\"random\", \"sequential\" or \"unique\"")),
        },
    };
    let sources = ["file", "list", "template"].map(|key| section.get(key));
    let words = match sources {
        [Some(file), None, None] => DictionaryWords::List(file_words(&file)?),
        [None, Some(list), None] => DictionaryWords::List(list_words(&list)?),
        [None, None, Some(template)] => return template_words(section, &template, order),
        [None, None, None] => {
            return Err(section.unexpected(
                format!("{} without words", section.title),
                "one of `file`, `list` and `template`",
            ));
        }
        _ => {
            return Err(section.unexpected(
                format!("{} with words from two places", section.title),
                "one of `file`, `list` and `template`",
            ));
        }
    };
    section.allow(&["file", "list", "order"])?;
    Ok(WordDictionary { words, order })
}

fn list_words(node: &DocumentNode<'_, '_>) -> DocumentResult<Vec<String>> {
    let words = node.list()?.into_iter().map(|word| word.text().map(str::to_owned));
    let words: Vec<String> = words.collect::<DocumentResult<_>>()?;
    if words.is_empty() {
        return Err(node.unexpected("a list of at least one word"));
    }
    Ok(words)
}

fn template_words(
    section: &DocumentSection<'_, '_>,
    node: &DocumentNode<'_, '_>,
    order: WordOrder,
) -> DocumentResult<WordDictionary> {
    let template = TextTemplate::parse(node.text()?).map_err(|found| {
        node.refuse(found, "one conversion such as %d, %05d or %08x, at most 1000 wide")
    })?;
    let count = section.need("count", "how many words the template makes")?;
    let count = count.integer(1..=WordDictionary::COUNT_MAX)?.cast_unsigned();
    let first = section.get("first").map_or(Ok(1), |node| node.integer(0..=i64::MAX))?;
    let words = DictionaryWords::Template { template, first: first.cast_unsigned(), count };
    Ok(WordDictionary { words, order })
}

/// The lines of a file beside the workload file; empty lines are no words.
fn file_words(node: &DocumentNode<'_, '_>) -> DocumentResult<Vec<String>> {
    let name = node.text()?;
    let folder = node.document.path.parent().unwrap_or(Path::new(""));
    let path = folder.join(name);
    let refuse = |reason: String| WorkloadError::DictionaryFile {
        place: node.place(),
        path: path.display().to_string(),
        reason,
    };
    let meta = fs::metadata(&path).map_err(|error| refuse(error.to_string()))?;
    // A pipe or a device would block, or never end.
    if !meta.is_file() || meta.len() > FILE_MAX {
        return Err(refuse(format!("it is not a regular file of at most {FILE_MAX} bytes")));
    }
    let text = fs::read_to_string(&path).map_err(|error| refuse(error.to_string()))?;
    let lines = text.lines().filter(|line| !line.is_empty());
    let words: Vec<String> = lines.take(WORDS_MAX + 1).map(str::to_owned).collect();
    match words.len() {
        0 => Err(refuse("it has no words".to_owned())),
        count if count > WORDS_MAX => Err(refuse(format!("it has more than {WORDS_MAX} words"))),
        _ => Ok(words),
    }
}
