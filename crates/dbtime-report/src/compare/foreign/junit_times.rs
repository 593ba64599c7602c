//! The times of tests in JUnit XML: one value for each `testcase` that has passed.

use super::sample::{ForeignValue, SampleKey};
use super::{ForeignError, ForeignFile, ForeignFormat};
use roxmltree::{Document, Node, ParsingOptions};

/// Elements, texts and comments of a document.
const MOST_NODES: u32 = 2_000_000;

/// How deep elements may nest, for each of which the parser takes some of the stack.
const MOST_DEPTH: usize = 128;

/// What stands in a test that has no time of its own, or not that of all of it.
const NOT_PASSED: [&str; 3] = ["skipped", "failure", "error"];

/// The same as an attribute `status`.
const NOT_RUN: [&str; 3] = ["notrun", "disabled", "skipped"];

/// What begins like an element and is none, and how it ends.
const NO_ELEMENTS: [(&str, &str); 4] =
    [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];

pub(super) fn read(text: &str) -> Result<ForeignFile, ForeignError> {
    if is_deep(text) {
        return Err(ForeignError::whole(format!(
            "elements in more than {MOST_DEPTH} others: JUnit XML has suites with tests"
        )));
    }
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(text.trim_start(), options).map_err(ForeignError::whole)?;
    let mut file = ForeignFile::new(ForeignFormat::Junit);
    for case in document.descendants().filter(|node| node.tag_name().name() == "testcase") {
        let is_flaw = |child: Node<'_, '_>| NOT_PASSED.contains(&child.tag_name().name());
        let is_idle = case.attribute("status").is_some_and(|status| NOT_RUN.contains(&status));
        let has_passed = !is_idle && !case.children().any(is_flaw);
        match case.attribute("time").filter(|_| has_passed) {
            None => file.left_out += 1,
            Some(time) => add(&mut file, case, time).map_err(|text| {
                ForeignError::at(document.text_pos_at(case.range().start).row.into(), text)
            })?,
        }
    }
    Ok(file)
}

/// Whether elements nest deeper than they may.
fn is_deep(text: &str) -> bool {
    let (mut rest, mut depth) = (text, 0usize);
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let other = NO_ELEMENTS.iter().find(|(begin, _)| rest.starts_with(begin));
        let end = match other {
            Some((begin, closing)) => {
                let inside = rest[begin.len()..].find(closing);
                inside.map(|bytes| begin.len() + bytes + closing.len())
            }
            None => tag_bytes(rest),
        };
        let Some(end) = end else { return false };
        match &rest[..end] {
            _ if other.is_some() => {}
            tag if tag.starts_with("</") => depth = depth.saturating_sub(1),
            tag if !tag.ends_with("/>") => depth += 1,
            _ => {}
        }
        if depth > MOST_DEPTH {
            return true;
        }
        rest = &rest[end..];
    }
    false
}

/// How long a tag is, in whose values `>` may stand; `None`: it does not end.
fn tag_bytes(tag: &str) -> Option<usize> {
    let mut quote = None;
    let end = tag.bytes().position(|byte| {
        match quote {
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            Some(open) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    });
    end.map(|end| end + 1)
}

fn add(file: &mut ForeignFile, case: Node<'_, '_>, time: &str) -> Result<(), String> {
    let refused = || format!("time {time:?} is no number of seconds");
    let value = seconds(time.trim()).ok_or_else(refused)?;
    let [class, name] = ["classname", "name"].map(|name| case.attribute(name).unwrap_or_default());
    let (group, name) = match class {
        "" => (suite(case).to_owned(), name.to_owned()),
        class => (String::new(), format!("{class}.{name}")),
    };
    let key = SampleKey { group, name, unit: "s".to_owned() };
    file.samples.add(key, ForeignValue { value, block: None })
}

/// The suite of a test, which tells tests without a class apart.
fn suite<'a>(case: Node<'a, '_>) -> &'a str {
    let mut suites = case.ancestors().filter(|node| node.tag_name().name() == "testsuite");
    suites.find_map(|suite| suite.attribute("name")).unwrap_or_default()
}

/// A time, in which some write thousands with a comma between: not the comma of a fraction.
fn seconds(time: &str) -> Option<f64> {
    let (whole, fraction) = time.split_once('.').unwrap_or((time, ""));
    let are_thousands = |(first, groups): (&str, &str)| {
        let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
        is_first && groups.split(',').all(|group| group.len() == 3)
    };
    if fraction.contains(',') || !whole.split_once(',').is_none_or(are_thousands) {
        return None;
    }
    time.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_passed_have_their_times() {
        let text = "\n<?xml version=\"1.0\"?><testsuites><testsuite name=\"s\" time=\"9\">\
            <testcase classname=\"a.B\" name=\"is &lt;fast&gt;\" time=\"1,001.5\"/>\
            <testcase name=\"plain\" time=\"0.5\"><system-out>x</system-out></testcase>\
            <testcase name=\"gone\" time=\"0.1\"><skipped/></testcase>\
            <testcase name=\"timeless\"/></testsuite></testsuites>";
        let file = read(text).expect("JUnit XML");
        let samples: Vec<_> = file.samples.samples().iter().collect();
        let shown: Vec<_> =
            samples.iter().map(|one| (one.key.name.as_str(), one.values[0].value)).collect();
        assert_eq!(shown, [("a.B.is <fast>", 1001.5), ("plain", 0.5)]);
        assert_eq!(file.left_out, 2);
    }

    #[test]
    fn damage_is_named_and_entities_are_not_expanded() {
        for (text, wanted) in [
            ("<testsuite>\n<testcase name=\"a\" time=\"soon\"/></testsuite>", "line 2: time"),
            ("<testsuite><testcase name=\"a\" time=\"0,005\"/></testsuite>", "line 1: time"),
            ("<testsuite><testcase name=\"a\" time=\"1,5\"/></testsuite>", "line 1: time"),
            ("<testsuite><testcase name=\"a\" time=\"1.5,0\"/></testsuite>", "line 1: time"),
            ("<testsuite><testcase></testsuite>", ""),
            ("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", ""),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }

    #[test]
    fn tests_without_a_class_are_told_apart_by_their_suites() {
        let text = "<testsuites><testsuite name=\"all\"><testsuite name=\"a\">\
            <testcase name=\"x\" time=\"1\"/><testcase name=\"off\" status=\"notrun\" time=\"0.\"/>\
            </testsuite><testsuite name=\"b\"><testcase name=\"x\" time=\"2\"/>\
            <testcase classname=\"C\" name=\"x\" time=\"3\"/></testsuite></testsuite></testsuites>";
        let file = read(text).expect("JUnit XML");
        let shown: Vec<String> =
            file.samples.samples().iter().map(|sample| sample.key.shown()).collect();
        assert_eq!(shown, ["a.x", "b.x", "C.x"]);
        assert_eq!(file.left_out, 1);
    }

    #[test]
    fn elements_that_nest_too_deep_are_refused() {
        let error = read(&"<a b='/>' c=\"'>\">".repeat(300_000)).expect_err("deep").to_string();
        assert!(error.starts_with("elements in more than 128 others"), "{error}");
        let flat = "<testcase name='a/' time='1'><system-out><![CDATA[<b><c>]]></system-out>\
            <!--> <d> --><?e <f>?></testcase><testcase name='a/' time='1'/>";
        let text = format!("<testsuite>{}</testsuite>", flat.repeat(200));
        assert_eq!(read(&text).expect("flat").samples.samples()[0].values.len(), 400);
    }
}
