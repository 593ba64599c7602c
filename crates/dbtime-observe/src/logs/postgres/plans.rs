//! The statement of a plan that auto_explain has logged.

use super::message_line::LineText;
use crate::logs::json_cursor::{quote_at, unescape};
use memchr::memmem;

/// What PostgreSQL escapes in XML, and what that stands for.
const ESCAPED_IN_XML: [(&[u8], u8); 4] =
    [(b"&lt;", b'<'), (b"&gt;", b'>'), (b"&amp;", b'&'), (b"&#x0d;", b'\r')];

/// The statement in `plan:` with text, JSON, YAML or XML behind it; `None`: it is in another form.
/// What is escaped there is made in `made`.
pub(super) fn plan_statement<'a>(
    step: LineText<'a>,
    made: &'a mut Vec<u8>,
) -> Option<LineText<'a>> {
    let plan = step.behind(b"plan:".len()).trimmed();
    // YAML has the same quotes and escapes as JSON, and no statement begins with such a quote.
    let name: &[u8] = match plan.bytes {
        [b'<', ..] => return xml_statement(plan, made),
        [b'{', ..] => b"\"Query Text\": \"",
        yaml if yaml.starts_with(b"Query Text: \"") => b"Query Text: \"",
        text if text.starts_with(b"Query Text: ") => {
            let text = plan.behind(b"Query Text: ".len());
            return Some(text.part(0..text_end(text.bytes)).trimmed());
        }
        _ => return None,
    };
    let text = plan.behind(memmem::find(plan.bytes, name)? + name.len());
    unescape(&text.bytes[..quote_at(text.bytes)?], made);
    Some(LineText::made(made))
}

/// The statement in `<Query-Text>`.
fn xml_statement<'a>(plan: LineText<'a>, made: &'a mut Vec<u8>) -> Option<LineText<'a>> {
    let name = b"<Query-Text>";
    let text = plan.behind(memmem::find(plan.bytes, name)? + name.len());
    let mut rest = &text.bytes[..memmem::find(text.bytes, b"</Query-Text>")?];
    while let Some(at) = memchr::memchr(b'&', rest) {
        made.extend_from_slice(&rest[..at]);
        let known = ESCAPED_IN_XML.iter().find(|(escape, _)| rest[at..].starts_with(escape));
        let (length, byte) = known.map_or((1, b'&'), |(escape, byte)| (escape.len(), *byte));
        made.push(byte);
        rest = &rest[at + length..];
    }
    made.extend_from_slice(rest);
    Some(LineText::made(made))
}

/// Where the statement ends: at its parameters, which are literals, or at the first node.
fn text_end(text: &[u8]) -> usize {
    let costs = memmem::find(text, b"  (cost=").unwrap_or(text.len());
    let node = memchr::memrchr(b'\n', &text[..costs]);
    let parameters = memmem::find(text, b"\nQuery Parameters: ");
    let identifier = memmem::find(text, b"\nQuery Identifier: ");
    let ends = [node.filter(|_| costs < text.len()), parameters, identifier];
    ends.into_iter().flatten().min().unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_found_in_plans() {
        let of = |text: &str| {
            let mut made = Vec::new();
            let found = plan_statement(LineText::made(text.as_bytes()), &mut made)?;
            Some(String::from_utf8_lossy(found.bytes).into_owned())
        };
        let plan = "plan:\nQuery Text: SELECT 1\n  FROM t;\nSeq Scan on t  (cost=0.00..1.00)";
        assert_eq!(of(plan).as_deref(), Some("SELECT 1\n  FROM t;"));
        let parameters = "plan:\nQuery Text: SELECT $1\nQuery Parameters: $1 = 7\nResult  (cost=0)";
        assert_eq!(of(parameters).as_deref(), Some("SELECT $1"));
        let json = "plan:\n{\n  \"Query Text\": \"SELECT \\\"a\\\"\\nFROM t\",\n  \"Plan\": {}\n}";
        assert_eq!(of(json).as_deref(), Some("SELECT \"a\"\nFROM t"));
        let yaml = "plan:\nQuery Text: \"select 'it''s \\\"q\\\"'\\n  , 2;\"\nPlan: \n  A: 7";
        assert_eq!(of(yaml).as_deref(), Some("select 'it''s \"q\"'\n  , 2;"));
        let xml = "plan:\n<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  \
                   <Query-Text>select 'a' &amp;&lt; 1 &gt; b & 'c'</Query-Text>\n  <Plan>";
        assert_eq!(of(xml).as_deref(), Some("select 'a' &< 1 > b & 'c'"));
        for other in ["plan:", "plan:\n<explain>", "plan:\n{", "plan:\n{\"Query Text\": \"SEL"] {
            assert_eq!(of(other), None, "{other}");
        }
        for other in ["plan:\nQuery Text: \"SEL", "plan:\n<Query-Text>SEL"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
