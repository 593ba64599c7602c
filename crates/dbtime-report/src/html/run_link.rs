//! A link from the page of several runs to the page of one of them.

/// A link with this text to the page in a run's folder, which is beside the page that the link is
/// on; `None` where the folder has a name that dbtime gives none. The text is of our making.
pub(crate) fn run_link(folder: &str, text: &str) -> Option<String> {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_of_name);
    let is_place = folder.split('/').all(is_name);
    is_place.then(|| format!("<a href=\"{folder}/report.html\">{text}</a>"))
}

fn is_of_name(sign: u8) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_folder_beside_the_page_and_nowhere_else() {
        let link = run_link("runs/0007-b02-lazy", "7").expect("a folder");
        assert_eq!(link, "<a href=\"runs/0007-b02-lazy/report.html\">7</a>");
        for folder in ["", "/etc", "../x", "a//b", "javascript:alert(1)", "a\"b", "<b>", "a b"] {
            assert_eq!(run_link(folder, "7"), None, "{folder}");
        }
    }
}
