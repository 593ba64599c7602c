//! The style sheet, written into the page.

use super::part_colors;

/// All rules. It holds no `<` and no `&`, so that the page stays well-formed XML.
pub(super) fn sheet() -> String {
    format!("{}{}", part_colors::rules(), include_str!("style.css"))
}
