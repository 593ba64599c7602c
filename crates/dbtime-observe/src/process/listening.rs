//! Where a process listens, and whose it is: what tells servers of one name apart.

use super::files::ProcFolder;
use super::namespaces::inner_number;
use nix::unistd::{Uid, User};
use procfs::ProcError;
use procfs::net::TcpState;
use procfs::process::{FDTarget, Process};
use std::collections::{BTreeSet, HashSet};

/// The numbers of a process's sockets.
pub(crate) fn sockets(files: &Process) -> Result<HashSet<u64>, ProcError> {
    let number = |target| match target {
        FDTarget::Socket(inode) => Some(inode),
        _ => None,
    };
    Ok(files.fd()?.flatten().filter_map(|file| number(file.target)).collect())
}

/// The TCP ports that a process listens on, in order.
pub(crate) fn ports(files: &Process) -> Result<Vec<u16>, ProcError> {
    let own = sockets(files)?;
    // Those of its own network, which in a container is not that of the machine.
    let entries =
        files.tcp().unwrap_or_default().into_iter().chain(files.tcp6().unwrap_or_default());
    let ports: BTreeSet<u16> = entries
        .filter(|entry| entry.state == TcpState::Listen && own.contains(&entry.inode))
        .map(|entry| entry.local_address.port())
        .collect();
    Ok(ports.into_iter().collect())
}

/// The name of a user; the number of one without a name.
pub(super) fn user_name(uid: u32) -> String {
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    user.map_or_else(|| uid.to_string(), |user| user.name)
}

/// A process among others of its name: `4711 (mysql, :3306, 1 in its own PID namespace)`. What may
/// not be seen is left out.
pub(super) fn described(pid: u32) -> String {
    let user = ProcFolder::of_process(pid).status().map(|status| user_name(status.uid));
    let files = Process::new(pid.cast_signed()).ok();
    let ports = files.as_ref().and_then(|files| ports(files).ok()).unwrap_or_default();
    let ports = ports.into_iter().map(|port| format!(":{port}"));
    let inner = files.and_then(|files| inner_number(&files.status().ok()?));
    let inner = inner.map(|number| format!("{number} in its own PID namespace"));
    let known: Vec<String> = user.into_iter().chain(ports).chain(inner).collect();
    match known.is_empty() {
        true => pid.to_string(),
        false => format!("{pid} ({})", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_process_is_known_by_its_user_and_its_ports() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let text = described(std::process::id());
        let user = user_name(Uid::current().as_raw());
        assert!(text.starts_with(&format!("{} ({user}, :", std::process::id())), "{text}");
        assert!(text.contains(&format!(":{port}")), "{text}");
        assert_eq!(described(4_194_305), "4194305");
        assert_eq!(user_name(0), "root");
        assert_eq!(user_name(3_999_999_999), "3999999999");
    }
}
