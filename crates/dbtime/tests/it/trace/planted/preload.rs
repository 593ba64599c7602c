//! Libraries that a server is started with, and that plant something in it.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Compiles the library of this name in `fixtures` into the sandbox.
pub(super) fn compile(sandbox: &Sandbox, name: &str) {
    let source = format!("{}/tests/it/fixtures/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(sandbox.path(&format!("{name}.so")));
    assert!(compiler.args([&source, "-ldl"]).status().expect("a C compiler").success());
}

/// Makes a file of zeros that the library shares with the test, also where the server has a user of
/// its own.
pub(super) fn shared_file(sandbox: &Sandbox, name: &str, length: usize) {
    sandbox.write(name, &"\0".repeat(length));
    let all = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(sandbox.path(name), all).expect("it is ours");
    sandbox.open_to_all();
}

/// The options of `run` that load the library, and set these variables; those called `…_FILE` to
/// files of the sandbox.
pub(super) fn environment(sandbox: &Sandbox, library: &str, variables: &[(&str, &str)]) -> String {
    let path = |name: &str| sandbox.path(name).display().to_string();
    let mut options = format!("--server-env LD_PRELOAD={}.so", path(library));
    for (name, value) in variables {
        let value = if name.ends_with("_FILE") { path(value) } else { (*value).to_owned() };
        options += &format!(" --server-env {name}={value}");
    }
    options
}

/// A number in a shared file, in the machine's own order.
pub(super) fn number_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[8 * at..8 * at + 8].try_into().expect("eight bytes"))
}
