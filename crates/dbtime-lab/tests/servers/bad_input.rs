//! What cannot start says why, and leaves nothing behind.

use crate::live::{HERE, children, is_empty, not_tested, query, refused, start, until, with};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_lab::LabError;
use dbtime_lab::servers::{PrivateServer, ServerRequest};
use dbtime_model::Product;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn is_usage(error: &LabError) -> bool {
    matches!(error, LabError::Usage(_))
}

#[test]
fn a_setting_that_the_server_does_not_know() {
    for product in HERE {
        let error = refused(&with(product, "no_such_thing", "1")).to_string();
        for told in ["did not start (exit status: ", "no_such_thing", "\ncheck --server-set no_s"] {
            assert!(error.contains(told), "no `{told}` in {error}");
        }
    }
}

#[test]
fn a_setting_that_is_dbtimes_own() {
    let error = refused(&with(Product::Mariadb, "datadir", "/var/lib/mysql"));
    assert!(is_usage(&error) && error.to_string().contains("use --server-data"), "{error}");
}

#[test]
fn mysql_where_there_is_only_mariadb() {
    let error = refused(&ServerRequest::new(Product::Mysql)).to_string();
    assert!(error.starts_with("there is no MySQL server here: "), "{error}");
    assert!(error.contains("/mariadbd is MariaDB 10."), "{error}");
    assert!(error.contains("; write --target mariadb, or name a MySQL with"), "{error}");
}

#[test]
fn a_prefix_without_a_server() {
    let dir = tempfile::tempdir().expect("a folder");
    for product in Product::SERVERS {
        let prefix = Some(dir.path().to_owned());
        let error = refused(&ServerRequest { prefix, ..ServerRequest::new(product) }).to_string();
        assert!(error.starts_with(&format!("there is no {product} server here: ")), "{error}");
        assert!(
            error.contains(" or its bin, sbin, ") && error.contains("; name the folder that"),
            "{error}"
        );
        let prefix = Some(dir.path().join("missing"));
        let error = refused(&ServerRequest { prefix, ..ServerRequest::new(product) });
        assert!(is_usage(&error) && error.to_string().contains("No such file"), "{error}");
    }
}

#[test]
fn programs_that_are_something_else() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    };
    write("mysqld", "#!/bin/sh\necho 'bash 5.2'\n");
    write("postgres", "#!/bin/sh\nexit 3\n");
    let of = |product| {
        let prefix = Some(dir.path().to_owned());
        refused(&ServerRequest { prefix, ..ServerRequest::new(product) }).to_string()
    };
    assert!(of(Product::Mysql).contains("/mysqld prints `bash 5.2` as its version"));
    assert!(of(Product::Postgres).contains("/postgres prints `nothing` as its version"));
    write("postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) 19.1'\n");
    assert!(of(Product::Postgres).contains("there is no initdb next to "));
    write("mysqld", "#!/bin/sh\necho 'mysqld  Ver 8.0.46 for Linux on x86_64 (MySQL)'\n");
    let error = of(Product::Mariadb);
    assert!(error.contains("/mysqld is MySQL 8.0.46; write --target mysql:/"), "{error}");
}

#[test]
fn a_binary_by_its_own_path() {
    let prefix = Some(PathBuf::from("/usr/sbin/mysqld"));
    let server = start(&ServerRequest { prefix, ..ServerRequest::new(Product::Mariadb) });
    assert_eq!(server.binary(), Path::new("/usr/sbin/mariadbd"));
}

#[test]
fn a_library_that_cannot_be_loaded() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let bad = dir.path().join("bad.so");
    fs::write(&bad, "no library").expect("written");
    for (product, path) in [
        (Product::Mariadb, bad.display().to_string()),
        (Product::Postgres, "libnothing.so.9".to_owned()),
    ] {
        let environment = vec![("LD_PRELOAD".to_owned(), ServerSecret::new(&path))];
        let error = refused(&ServerRequest { environment, ..ServerRequest::new(product) });
        let error = error.to_string();
        assert!(error.contains(&format!("{path} is not in the memory of the server")), "{error}");
        assert!(error.contains("ld.so: object"), "{error}");
    }
    let environment = vec![("LD_PRELOAD".to_owned(), ServerSecret::new("/nowhere/x.so"))];
    let error = refused(&ServerRequest { environment, ..ServerRequest::new(Product::Mariadb) });
    assert!(is_usage(&error) && error.to_string().contains("there is no file /nowhere/x.so"));
}

/// Listens on a port that no client gets by chance: below those that the system gives out.
fn listener_apart() -> TcpListener {
    let first = 20_000 + (std::process::id() % 12_000) as u16;
    let mut ports = (first..32_000).chain(20_000..first);
    ports.find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok()).expect("a port")
}

#[test]
fn a_port_that_is_taken() {
    let holder = listener_apart();
    let port = holder.local_addr().expect("bound").port();
    for product in HERE {
        let error = refused(&with(product, "port", &port.to_string())).to_string();
        assert!(error.starts_with(&format!("port {port} on 127.0.0.1 is taken")), "{error}");
    }
    drop(holder);
    let server = start(&with(Product::Postgres, "port", &port.to_string()));
    assert_eq!((server.port(), query(&server, true, "SELECT 1").as_str()), (port, "1"));
}

#[test]
fn cpus_that_this_machine_does_not_have() {
    let cpus = Some("0,1023".parse().expect("a list"));
    let error = refused(&ServerRequest { cpus, ..ServerRequest::new(Product::Mariadb) });
    assert!(is_usage(&error) && error.to_string().contains("CPU 1023 is not there"), "{error}");
}

#[test]
fn a_place_for_data_that_cannot_be_used() {
    let dir = tempfile::tempdir().expect("a folder");
    let of = |place: &Path| {
        let data = Some(place.to_owned());
        refused(&ServerRequest { data, ..ServerRequest::new(Product::Postgres) })
    };
    let error = of(&dir.path().join("missing"));
    assert!(is_usage(&error) && error.to_string().contains("--server-data"), "{error}");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o500)).expect("ours");
    let error = of(dir.path()).to_string();
    assert!(error.contains("--server-data") && error.contains("may"), "{error}");
    assert!(of(Path::new("/proc")).to_string().contains("cannot make a folder in it"));
}

/// A small memory disk; `None` where none can be made.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().expect("a folder");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        let size = format!("size={size},mode=0755");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(dir.path());
        mount.output().is_ok_and(|ended| ended.status.success()).then(|| Self(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_disk_that_is_too_small() {
    let Some(disk) = SmallDisk::new("4m") else {
        return not_tested("a full disk: needs root and mount");
    };
    for product in HERE {
        let data = Some(disk.0.path().to_owned());
        let request = ServerRequest { data, new_data: None, ..ServerRequest::new(product) };
        let error = refused(&request).to_string();
        assert!(error.contains("cannot make its data folder"), "{error}");
        assert!(error.contains("choose another disk with --server-data"), "{error}");
        assert!(is_empty(disk.0.path()));
    }
}

#[test]
fn interrupted_while_it_starts() {
    for product in HERE {
        let place = tempfile::Builder::new().tempdir_in("/dev/shm").expect("a memory disk");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        let data = Some(place.path().to_owned());
        let request = ServerRequest { data, new_data: None, ..ServerRequest::new(product) };
        let stop = RunStop::default();
        stop.at(dbtime_machine::now());
        let error = PrivateServer::start(&request, &|_| {}, &stop).err().expect("interrupted");
        assert!(matches!(error, LabError::Interrupted(_)), "{error}");
        assert!(is_empty(place.path()));
    }
}

#[test]
fn killed_while_it_starts() {
    // Whatever starts with its data here is the server.
    let place = tempfile::Builder::new().tempdir_in("/dev/shm").expect("a memory disk");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let data = Some(place.path().to_owned());
    let request = ServerRequest { data, ..ServerRequest::new(Product::Mariadb) };
    let error = std::thread::scope(|scope| {
        let starting = scope.spawn(|| refused(&request));
        let named = format!("--datadir={}", place.path().display());
        let is_ours = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            line.contains(&named) && line.contains("--port=")
        };
        let mut found = None;
        until("the server starts", || {
            found = children(std::process::id()).into_iter().find(is_ours);
            found.is_some()
        });
        // At once: a program to do so may start only when the server has.
        let found = found.and_then(|pid| Pid::from_raw(pid.cast_signed())).expect("found");
        kill_process(found, Signal::KILL).expect("it is ours");
        starting.join().expect("no panic")
    });
    let error = error.to_string();
    assert!(error.contains("did not start (signal: 9 (SIGKILL))"), "{error}");
    assert!(is_empty(place.path()));
}
