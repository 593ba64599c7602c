//! The script of a page, and the rule by which it alone may run.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Widens timelines. It holds no `<` and no `&`, so that the page stays well-formed XML.
pub(super) const SOURCE: &str = include_str!("report.js");

/// The part of the page's policy that lets this script run and no other; empty where there is none.
///
/// Source: W3C, Content Security Policy Level 3, section 2.3.1 (`hash-source`).
pub(super) fn policy(source: &str) -> String {
    match source {
        "" => String::new(),
        source => format!("script-src 'sha256-{}'; ", STANDARD.encode(Sha256::digest(source))),
    }
}

/// The script as an element, exactly as it was hashed.
pub(super) fn element(source: &str) -> String {
    match source {
        "" => String::new(),
        source => format!("<script>{source}</script>\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_text_of_xml_and_what_is_hashed() {
        assert!(!SOURCE.contains(['<', '&']));
        assert!(element(SOURCE).contains(&format!(">{SOURCE}<")));
        // printf x | openssl dgst -sha256 -binary | base64
        let known = "script-src 'sha256-LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE='; ";
        assert_eq!(policy("x"), known);
        assert_eq!((policy(""), element("")), (String::new(), String::new()));
    }
}
