//! Paths in files that may come from elsewhere: what they name is to lie in the folder of the file.

use std::path::{Component, Path};

/// Whether a path that is relative to a folder stays in it, or is the folder itself: it is not
/// absolute, and no part of it is `..`. Links are not followed.
pub fn is_inner(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_out_is_known() {
        for inner in ["", "runs/0001", "./a", "a..b", "...", "a//b/"] {
            assert!(is_inner(Path::new(inner)), "{inner}");
        }
        for outer in ["..", "../a", "a/../../b", "a/..", "/", "/etc", "//a"] {
            assert!(!is_inner(Path::new(outer)), "{outer}");
        }
    }
}
