//! JSON whose fields keep their order, and may come twice: old versions of MariaDB write the tables
//! of a join as fields of one name.

use super::PlanError;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A value. How deep it goes is bounded by `serde_json`, its size by that of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JsonTree {
    /// `null`.
    Null,
    /// `true` or `false`.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    Items(Vec<JsonTree>),
    /// An object.
    Fields(Vec<(String, JsonTree)>),
}

impl JsonTree {
    /// Reads a text.
    pub(super) fn read(text: &str) -> Result<Self, PlanError> {
        serde_json::from_str(text).map_err(|error| PlanError(format!("no JSON: {error}")))
    }

    /// Reads a text in which quotes within texts may be as they are: MariaDB writes a field a line,
    /// and under `ANSI_QUOTES` names in double quotes that it does not escape.
    pub(super) fn read_unescaped(text: &str) -> Result<Self, PlanError> {
        Self::read(text).or_else(|error| {
            let lines: Vec<String> = text.lines().map(with_quotes_escaped).collect();
            Self::read(&lines.join("\n")).map_err(|_| error)
        })
    }

    /// The fields of an object; none of anything else.
    pub(super) fn fields(&self) -> &[(String, Self)] {
        match self {
            Self::Fields(fields) => fields,
            _ => &[],
        }
    }

    /// The items of a list; none of anything else.
    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::Items(items) => items,
            _ => &[],
        }
    }

    /// The items of a field that is a list; none where it is anything else.
    pub(super) fn items_of(&self, name: &str) -> &[Self] {
        match self.field(name) {
            Some(list) => list.items(),
            None => &[],
        }
    }

    /// The first field of a name.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        self.fields().iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// A field that is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.field(name)? {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A field that is a number, or a text with one in it.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        let number = match self.field(name)? {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        };
        number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
    }

    /// Whether a field is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.field(name) == Some(&Self::Truth(true))
    }

    /// The texts of a field that is a list of them, with a comma between.
    pub(super) fn list(&self, name: &str) -> Option<String> {
        let texts = self.items_of(name).iter().filter_map(|item| match item {
            Self::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }
}

/// A line with a field that is a text, its quotes escaped; any other line as it is.
fn with_quotes_escaped(line: &str) -> String {
    let begin = "\": \"";
    let (Some(at), Some(end)) = (line.find(begin), line.rfind('"')) else { return line.to_owned() };
    let at = at + begin.len();
    if at > end {
        return line.to_owned();
    }
    let mut text = line[..at].to_owned();
    let mut is_escaped = false;
    for c in line[at..end].chars() {
        if c == '"' && !is_escaped {
            text.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
        text.push(c);
    }
    text + &line[end..]
}

impl<'de> Deserialize<'de> for JsonTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

/// Takes whatever comes.
struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = JsonTree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<JsonTree, E> {
        Ok(JsonTree::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<JsonTree, E> {
        Ok(JsonTree::Truth(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<JsonTree, E> {
        Ok(JsonTree::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<JsonTree, E> {
        Ok(JsonTree::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<JsonTree, E> {
        Ok(JsonTree::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonTree, E> {
        Ok(JsonTree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonTree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(JsonTree::Items(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<JsonTree, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = object.next_entry()? {
            fields.push(field);
        }
        Ok(JsonTree::Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_come_twice() {
        let tree = JsonTree::read(r#"{"table": {"b": 1}, "a": "2.5", "table": [true, null, "x"]}"#)
            .expect("JSON");
        let names: Vec<&str> = tree.fields().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["table", "a", "table"]);
        assert_eq!(tree.number("a"), Some(2.5));
        assert_eq!(tree.field("table").and_then(|table| table.number("b")), Some(1.0));
        assert_eq!(tree.fields()[2].1.items().len(), 3);
        assert!(!tree.is_true("a") && tree.number("table").is_none() && tree.list("a").is_none());
    }

    #[test]
    fn quotes_that_are_not_escaped_are_read() {
        let text = r#"{"a": {
            "condition": ""t".\"x\" = 'y'",
            "none": ""
        }}"#;
        assert!(JsonTree::read(text).is_err());
        let tree = JsonTree::read_unescaped(text).expect("JSON");
        let inner = tree.field("a").expect("a field");
        assert_eq!(inner.text("condition"), Some("\"t\".\"x\" = 'y'"));
        assert_eq!(inner.text("none"), Some(""));
        assert!(JsonTree::read_unescaped("{\"a\": \"\n\": \"").is_err());
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_refused() {
        for text in ["", "{", "EXPLAIN", &"[".repeat(1_000_000)] {
            assert!(JsonTree::read(text).is_err(), "{}", text.len());
        }
    }
}
