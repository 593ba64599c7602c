//! The server whose data are in a folder.

use super::files::ProcFolder;
use dbtime_model::WireProtocol;
use procfs::process::Process;
use std::path::Path;

/// The server's process that works in this folder, as MariaDB, MySQL and PostgreSQL do in that of
/// their data; its parent where its children do too. `data` is as the server calls it: in a
/// container it may be nowhere here. `None`: there is not exactly one that this user may see.
pub fn server_of(data: &Path) -> Option<u32> {
    let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    let servers: Vec<(u32, u32)> =
        super::all().into_iter().filter_map(|pid| server_in(pid, &data)).collect();
    let is_child = |parent: u32| servers.iter().any(|(pid, _)| *pid == parent);
    let mut roots = servers.iter().filter(|(_, parent)| !is_child(*parent));
    let (root, None) = (roots.next(), roots.next()) else { return None };
    root.map(|(pid, _)| *pid)
}

/// Whether a process runs a database server.
pub fn is_server(pid: u32) -> bool {
    has_name_like(pid, |name| WireProtocol::of_program(name).is_some())
}

/// Programs that listen in the place of servers in containers, as the kernel calls them.
const FORWARDERS: [&str; 8] = [
    "conmon",
    "docker-proxy",
    "gvproxy",
    "pasta",
    "pasta.avx2",
    "rootlesskit",
    "rootlessport",
    "slirp4netns",
];

/// Whether a process passes on what comes to a container's ports, so that what it takes is not what
/// the server takes.
pub fn is_forwarder(pid: u32) -> bool {
    has_name_like(pid, |name| FORWARDERS.contains(&name))
}

fn has_name_like(pid: u32, is_it: impl Fn(&str) -> bool) -> bool {
    ProcFolder::of_process(pid).basics().is_ok_and(|basics| is_it(&basics.name))
}

/// A process and its parent, if it is a server that works there.
fn server_in(pid: u32, data: &Path) -> Option<(u32, u32)> {
    let basics = ProcFolder::of_process(pid).basics().ok()?;
    let folder = || Process::new(pid.cast_signed()).and_then(|process| process.cwd());
    let is_there = || folder().is_ok_and(|folder| folder == data);
    let is_server = WireProtocol::of_program(&basics.name).is_some() && is_there();
    is_server.then_some((pid, basics.parent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    /// A process that does nothing, until this goes.
    struct SleepProcess(Child);

    impl SleepProcess {
        fn start(program: &Path, folder: &Path) -> Self {
            let mut command = Command::new(program);
            command.arg("600").stdin(Stdio::null()).current_dir(folder);
            Self(command.spawn().expect("it starts"))
        }

        fn id(&self) -> u32 {
            self.0.id()
        }
    }

    impl Drop for SleepProcess {
        /// Also where a test fails.
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn what_stands_before_a_container_is_no_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("docker-proxy");
        std::fs::copy("/bin/sleep", &program).expect("a copy");
        let proxy = SleepProcess::start(&program, folder.path());
        // It has its name once it executes.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(100);
        while !is_forwarder(proxy.id()) && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert!(is_forwarder(proxy.id()) && !is_server(proxy.id()));
        assert!(!is_forwarder(std::process::id()));
    }

    #[test]
    fn a_server_is_found_by_the_folder_it_works_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        std::fs::create_dir(&data).expect("a folder");
        let program = folder.path().join("mariadbd");
        std::fs::copy("/bin/sleep", &program).expect("a copy");
        assert_eq!(server_of(&data), None);
        let start = SleepProcess::start;
        let others = [start(&program, folder.path()), start(Path::new("sleep"), &data)];
        let server = start(&program, &data);
        // It works there from the start, and has its name once it executes.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(100);
        while server_of(&data).is_none() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(server_of(&data), Some(server.id()));
        assert!(is_server(server.id()) && !is_server(others[1].id()));
        let second = start(&program, &data);
        while !is_server(second.id()) && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(server_of(&data), None, "there are two");
    }
}
