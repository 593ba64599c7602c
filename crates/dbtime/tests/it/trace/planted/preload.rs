//! Libraries that a server is started with, and that plant something in it; and a disk for them.

use super::*;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

/// Compiles the library of this name in `fixtures` into the sandbox.
pub(super) fn compile(sandbox: &Sandbox, name: &str) {
    compile_to(sandbox, name, &format!("{name}.so"), &["-shared", "-fPIC", "-ldl"]);
}

fn compile_to(sandbox: &Sandbox, name: &str, output: &str, options: &[&str]) {
    let source = format!("{}/tests/it/fixtures/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-o"]).arg(sandbox.path(output)).arg(source).args(options);
    assert!(compiler.status().expect("a C compiler").success());
}

/// A disk of one file, each sync of which takes its time, until this is dropped.
pub(super) struct SlowDisk(Child);

impl SlowDisk {
    /// Mounts it over a new file of the sandbox; `None` where the kernel has no FUSE for us.
    pub(super) fn mount(sandbox: &Sandbox, file: &str, sync_ms: u32) -> Option<Self> {
        compile_to(sandbox, "slow_disk", "slow_disk", &["-pthread"]);
        shared_file(sandbox, file, 0);
        let mut command = Command::new(sandbox.path("slow_disk"));
        command.arg(sandbox.path(file)).arg(sync_ms.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut disk = Self(command.spawn().expect("it was compiled"));
        let mut line = String::new();
        let stdout = disk.0.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line or its end");
        if line.is_empty() {
            not_tested("a slow disk could not be mounted");
            return None;
        }
        Some(disk)
    }
}

impl Drop for SlowDisk {
    /// It unmounts when its input ends, which waiting closes.
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
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
