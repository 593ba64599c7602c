//! Where PostgreSQL turns to a statement: it makes a portal for each that a client binds. That
//! tells how long each of several statements took which a client sends together; between them the
//! server neither reads nor writes.

use super::demand::TextProbeSite;
use super::program::ServerProgram;
use std::fs::File;

/// `CreatePortal(const char *name, bool allowDup, bool dupSilent)`.
const CREATE: &str = "CreatePortal";

/// The place in a server's program.
///
/// # Errors
/// Why there is none, for people.
pub(crate) fn portal_probe_site(
    file: &File,
    program: &ServerProgram,
) -> Result<TextProbeSite, String> {
    TextProbeSite::new(file, "on_portal", program.entry(program.place(CREATE)?), 0)
}

#[cfg(test)]
mod tests {
    use super::super::program::tests::program;
    use super::*;

    #[test]
    fn the_function_is_found_or_missed() {
        let file = File::open("/proc/self/exe").expect("it runs");
        let site = portal_probe_site(&file, &program(vec![0x55; 8], &[(CREATE, 4..8)]));
        let site = site.expect("it is there");
        assert_eq!((site.program, site.offset), ("on_portal", 4));
        let missing = portal_probe_site(&file, &program(vec![], &[])).expect_err("it is not");
        assert!(missing.contains(CREATE), "{missing}");
    }
}
