//! The times of tests in JUnit XML: one value for each `testcase` that has passed.

use super::sample::{ForeignValue, SampleKey};
use super::{ForeignError, ForeignFile, ForeignFormat};
use roxmltree::{Document, Node, ParsingOptions};

/// Elements, texts and comments of a document.
const MOST_NODES: u32 = 2_000_000;

/// What stands in a test that has no time of its own, or not that of all of it.
const NOT_PASSED: [&str; 3] = ["skipped", "failure", "error"];

pub(super) fn read(text: &str) -> Result<ForeignFile, ForeignError> {
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(text.trim_start(), options).map_err(ForeignError::whole)?;
    let mut file = ForeignFile::new(ForeignFormat::Junit);
    for case in document.descendants().filter(|node| node.tag_name().name() == "testcase") {
        let is_flaw = |child: Node<'_, '_>| NOT_PASSED.contains(&child.tag_name().name());
        let has_passed = !case.children().any(is_flaw);
        match case.attribute("time").filter(|_| has_passed) {
            None => file.left_out += 1,
            Some(time) => add(&mut file, case, time).map_err(|text| {
                ForeignError::at(document.text_pos_at(case.range().start).row.into(), text)
            })?,
        }
    }
    Ok(file)
}

fn add(file: &mut ForeignFile, case: Node<'_, '_>, time: &str) -> Result<(), String> {
    // Some write thousands with a comma between.
    let value = time.trim().replace(',', "").parse::<f64>();
    let value = value.map_err(|_| format!("time {time:?} is no number of seconds"))?;
    let [class, name] = ["classname", "name"].map(|name| case.attribute(name).unwrap_or_default());
    let name = if class.is_empty() { name.to_owned() } else { format!("{class}.{name}") };
    let key = SampleKey { name, unit: "s".to_owned(), ..SampleKey::default() };
    file.samples.add(key, ForeignValue { value, block: None })
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
            ("<testsuite><testcase></testsuite>", ""),
            ("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", ""),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
