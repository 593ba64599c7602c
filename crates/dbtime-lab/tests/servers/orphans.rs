//! A server does not outlive dbtime, however that ends.
//!
//! Each test runs this very program a second time, as the one that starts a server and is killed.

use crate::live::{HERE, children, is_alive, shared_memory, start, state, until};
use dbtime_lab::servers::ServerRequest;
use dbtime_model::Product;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Names the product that the second program starts.
const ROLE: &str = "DBTIME_TEST_STARTS";

/// The second program: starts a server, says where it is, and waits for its death.
#[test]
fn the_one_that_is_killed() {
    let Some(role) = std::env::var(ROLE).ok() else { return };
    let mut words = role.split(' ');
    let product = words.next().and_then(Product::named).expect("a product");
    let server = start(&ServerRequest::new(product));
    if words.next() == Some("paused") {
        server.pause();
    }
    let folder = server.socket().parent().expect("a folder").display();
    let line = format!("\nserver {} {folder}\n", server.pid());
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes()).expect("a reader");
    loop {
        std::thread::park();
    }
}

/// Starts the second program; gives it, its server's number and its folder.
fn second(role: &str) -> (Child, u32, PathBuf) {
    let own = std::env::current_exe().expect("this program");
    let mut command = Command::new(own);
    command.args(["--exact", "orphans::the_one_that_is_killed", "--nocapture"]).env(ROLE, role);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut lines = lines.map_while(Result::ok);
    let line = lines.find(|line| line.starts_with("server ")).expect("a server");
    let words: Vec<&str> = line.split(' ').collect();
    (child, words[1].parse().expect("a number"), PathBuf::from(words[2]))
}

#[test]
fn killed_with_its_server_running_or_paused() {
    for product in HERE {
        for how in ["running", "paused"] {
            let (mut child, pid, folder) = second(&format!("{} {how}", product.name()));
            let others = children(pid);
            let shared = shared_memory(&[&others[..], &[pid]].concat());
            assert_eq!(shared.is_empty(), product != Product::Postgres);
            assert!(is_alive(pid) && folder.exists());
            // The signal reaches it a moment later.
            until("it stands still or not", || (state(pid) == 'T') == (how == "paused"));
            child.kill().expect("it was alive");
            child.wait().expect("it ends");
            until("the server ends", || !is_alive(pid));
            until("its processes end", || others.iter().all(|pid| !is_alive(*pid)));
            until("its folder goes", || !folder.exists());
            // They go behind the folder.
            let is_there = |file: &String| fs::exists(file).expect("we may look");
            until("its shared memory goes", || !shared.iter().any(is_there));
        }
    }
}

#[test]
fn killed_while_the_data_folder_is_made() {
    for product in HERE {
        let place = tempfile::tempdir().expect("a folder");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(place.path(), open).expect("ours");
        let own = std::env::current_exe().expect("this program");
        let mut command = Command::new(own);
        command.args(["--exact", "orphans::the_one_that_is_killed"]);
        command.env(ROLE, product.name()).env("TMPDIR", place.path()).stdout(Stdio::null());
        command.env_remove("DBTIME_NEW_DATA");
        let mut child = command.spawn().expect("it starts");
        until("a data folder", || {
            let folders = fs::read_dir(place.path()).expect("a folder").flatten();
            folders.into_iter().any(|folder| folder.path().join("data").exists())
        });
        child.kill().expect("it was alive");
        child.wait().expect("it ends");
        until("all is removed", || crate::live::is_empty(place.path()));
    }
}
