//! The list of a page's sections, each a link to its heading.

use std::fmt::Write;

/// Sections with an anchor at each heading, behind the list of these headings.
///
/// Shape: markup made by sections, in which every text of a record is escaped, so that `<h2` begins
/// nothing but a heading.
pub(super) fn listed(sections: &str) -> String {
    let mut parts = sections.split("<h2");
    let mut anchored = parts.next().unwrap_or_default().to_owned();
    let mut list = String::new();
    for (index, part) in parts.enumerate() {
        let anchor = format!("section-{}", index + 1);
        let _ = write!(anchored, "<h2 id=\"{anchor}\"{part}");
        let _ = write!(list, "<li><a href=\"#{anchor}\">{}</a></li>", title(part));
    }
    match list.as_str() {
        "" => anchored,
        list => format!("<nav aria-label=\"Sections\"><ul>{list}</ul></nav>\n{anchored}"),
    }
}

/// The title of a heading, from what follows its first three signs.
fn title(part: &str) -> &str {
    let inside = part.split_once('>').map_or(part, |(_, inside)| inside);
    inside.split_once("</h2>").map_or(inside, |(title, _)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_heading_has_an_anchor_that_the_list_leads_to() {
        let page = listed("<p>a</p><h2>One &amp; two</h2>b<h2 class=\"wide\">Three</h2>");
        let expected = "<nav aria-label=\"Sections\"><ul>\
                        <li><a href=\"#section-1\">One &amp; two</a></li>\
                        <li><a href=\"#section-2\">Three</a></li></ul></nav>\n\
                        <p>a</p><h2 id=\"section-1\">One &amp; two</h2>b\
                        <h2 id=\"section-2\" class=\"wide\">Three</h2>";
        assert_eq!(page, expected);
        assert_eq!(listed("<p>a</p>"), "<p>a</p>");
    }
}
