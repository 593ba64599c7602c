//! From the start to the end: answers, settings, CPUs, libraries, pauses, kills, restarts.

use crate::live::{
    HERE, children, is_alive, is_empty, query, refused, shared_memory, start, state, until, with,
};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_lab::RunProgress;
use dbtime_lab::servers::{PrivateServer, ServerRequest};
use dbtime_model::Product;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;

#[test]
fn a_server_answers_and_leaves_nothing_but_its_log() {
    for product in HERE {
        let kept = tempfile::tempdir().expect("a folder");
        let told = Mutex::new(Vec::new());
        let hear = |progress| told.lock().expect("no panic").push(progress);
        let request = ServerRequest::new(product);
        let server = PrivateServer::start(&request, &hear, &RunStop::default()).expect("it starts");
        assert_eq!(server.product(), product);
        assert!(server.port() < 32_768 && server.socket().exists());
        assert_eq!(query(&server, false, "SELECT 1"), "1");
        assert_eq!(query(&server, true, "SELECT 2"), "2");
        let version = query(&server, false, "SELECT VERSION()");
        assert!(version.contains(server.version()), "{version} {}", server.version());
        let (pid, folder) = (server.pid(), server.socket().parent().expect("one").to_owned());
        let others = children(pid);
        assert!(is_alive(pid) && server.ended().is_none());
        let log = kept.path().join("server.log");
        server.stop(Some(&log)).expect("the log is kept");
        assert!(!is_alive(pid) && others.into_iter().all(|pid| !is_alive(pid)));
        assert!(!folder.exists());
        let log = fs::read_to_string(log).expect("a log").to_lowercase();
        assert!(log.contains("ready") && log.contains("shut"), "{log}");
        let told = told.into_inner().expect("no panic");
        let steps = ["making its data folder", "starting"];
        assert_eq!(told.len(), steps.len(), "{told:?}");
        for (told, step) in told.iter().zip(steps) {
            let RunProgress::Server { step: text } = told else { panic!("{told:?}") };
            assert!(text.starts_with(&product.to_string()) && text.ends_with(step), "{text}");
        }
    }
}

#[test]
fn settings_reach_the_server_and_win() {
    for (product, ask) in [(Product::Mariadb, "SELECT @@"), (Product::Postgres, "SHOW ")] {
        let server = start(&ServerRequest {
            connections: Some(333),
            ..with(product, "max_connections", "77")
        });
        assert_eq!(query(&server, false, &format!("{ask}max_connections")), "77");
        drop(server);
        let server =
            start(&ServerRequest { connections: Some(333), ..ServerRequest::new(product) });
        let many: u32 = query(&server, false, &format!("{ask}max_connections")).parse().expect("n");
        assert!(many > 333, "{many}");
    }
}

#[test]
fn a_setting_of_the_data_folder_holds_from_its_birth() {
    let server = start(&with(Product::Mariadb, "innodb-page-size", "8192"));
    assert_eq!(query(&server, false, "SELECT @@innodb_page_size"), "8192");
}

/// Nothing of what the first has written, or of its password, is in the second.
#[test]
fn a_new_data_folder_is_kept_and_copied() {
    for product in HERE {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("new-data");
        let request =
            ServerRequest { new_data: Some(folder.clone()), ..ServerRequest::new(product) };
        let kept = || fs::read_dir(&folder).expect("copies").count();
        let first = start(&request);
        query(&first, false, "CREATE DATABASE d");
        assert_eq!(kept(), 1);
        let second = start(&request);
        assert_ne!(first.password().reveal(), second.password().reveal());
        assert_eq!(query(&second, true, "SELECT 2"), "2");
        query(&second, false, "CREATE DATABASE d");
        assert_eq!(kept(), 1);
    }
    // What is made with other settings has a copy of its own.
    let place = tempfile::tempdir().expect("a folder");
    let new_data = Some(place.path().to_owned());
    for size in ["4096", "16384", "4096"] {
        let request = with(Product::Mariadb, "innodb_page_size", size);
        let server = start(&ServerRequest { new_data: new_data.clone(), ..request });
        assert_eq!(query(&server, false, "SELECT @@innodb_page_size"), size);
    }
    assert_eq!(fs::read_dir(place.path()).expect("copies").count(), 2);
}

#[test]
fn a_place_for_new_data_that_cannot_be_is_named() {
    let place = tempfile::NamedTempFile::new().expect("a file");
    let new_data = Some(place.path().to_owned());
    let error = refused(&ServerRequest { new_data, ..ServerRequest::new(Product::Postgres) });
    let text = error.to_string();
    assert!(text.starts_with("DBTIME_NEW_DATA /") && text.contains("name a folder"), "{text}");
}

/// A server executes what is in its settings.
#[test]
fn a_place_for_new_data_that_others_write_to_is_refused() {
    let place = tempfile::tempdir().expect("a folder");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1777)).expect("ours");
    let new_data = Some(place.path().to_owned());
    let error = refused(&ServerRequest { new_data, ..ServerRequest::new(Product::Postgres) });
    assert!(error.to_string().contains("others may write there"), "{error}");
}

#[test]
fn a_kept_folder_that_is_damaged_is_named() {
    for (product, file) in [(Product::Postgres, "global/pg_control"), (Product::Mariadb, "ibdata1")]
    {
        let place = tempfile::tempdir().expect("a folder");
        let new_data = Some(place.path().to_owned());
        let request = ServerRequest { new_data, ..ServerRequest::new(product) };
        drop(start(&request));
        let kept = fs::read_dir(place.path()).expect("copies").flatten().next().expect("one");
        fs::write(kept.path().join("data").join(file), "damaged").expect("ours");
        let error = refused(&request).to_string();
        assert!(error.contains(&*kept.path().to_string_lossy()), "{error}");
        assert!(error.contains("remove th"), "{error}");
    }
}

#[test]
fn the_system_is_left_alone() {
    let server = start(&ServerRequest::new(Product::Mariadb));
    let asked = "SELECT CONCAT_WS(' ', @@datadir, @@socket, @@pid_file, @@tmpdir, @@bind_address)";
    let told = query(&server, false, asked);
    let folder = server.socket().parent().expect("one").display().to_string();
    let words: Vec<&str> = told.split(' ').collect();
    assert!(words[..4].iter().all(|path| path.starts_with(&folder)), "{told}");
    assert_eq!(words[4], "127.0.0.1");
    let server = start(&ServerRequest::new(Product::Postgres));
    assert_eq!(query(&server, false, "SHOW listen_addresses"), "127.0.0.1");
}

#[test]
fn a_server_runs_on_its_cpus_with_all_its_processes() {
    for product in HERE {
        let cpus = Some("1".parse().expect("a list"));
        if dbtime_lab::servers::check_online(cpus.as_ref().expect("set"), "x").is_err() {
            return crate::live::not_tested("CPUs: this machine has one");
        }
        let server = start(&ServerRequest { cpus, ..ServerRequest::new(product) });
        for pid in children(server.pid()).into_iter().chain([server.pid()]) {
            // One that served the login may be gone by now.
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            for task in tasks {
                let Ok(status) = fs::read_to_string(task.path().join("status")) else { continue };
                assert!(status.contains("Cpus_allowed_list:\t1\n"), "{status}");
            }
        }
    }
}

#[test]
fn a_library_is_loaded_before_the_server() {
    // Any library that the server does not need by itself.
    let library = "/usr/lib/x86_64-linux-gnu/libutil.so.1";
    if !std::path::Path::new(library).exists() {
        return crate::live::not_tested("LD_PRELOAD: there is no libutil.so.1");
    }
    for (product, library) in HERE.into_iter().zip([library, "libutil.so.1"]) {
        let environment = vec![("LD_PRELOAD".to_owned(), ServerSecret::new(library))];
        let server = start(&ServerRequest { environment, ..ServerRequest::new(product) });
        let maps = fs::read_to_string(format!("/proc/{}/maps", server.pid())).expect("maps");
        assert!(maps.contains("libutil"), "{maps}");
    }
}

#[test]
fn the_data_goes_where_it_was_sent() {
    for product in HERE {
        let place = tempfile::Builder::new().tempdir_in("/dev/shm").expect("a memory disk");
        let open = PermissionsExt::from_mode(0o755);
        fs::set_permissions(place.path(), open).expect("ours");
        let data = Some(place.path().to_owned());
        let server = start(&ServerRequest { data, ..ServerRequest::new(product) });
        assert!(server.data().starts_with(place.path()) && server.data().is_dir());
        assert!(!server.socket().starts_with(place.path()));
        drop(server);
        assert!(is_empty(place.path()));
    }
}

#[test]
fn all_its_processes_pause_and_go_on() {
    for product in HERE {
        let server = start(&ServerRequest::new(product));
        let all = || children(server.pid()).into_iter().chain([server.pid()]);
        server.pause();
        // One that served the login may be a corpse that nobody buries now.
        until("all stand still", || all().all(|pid| matches!(state(pid), 'T' | 'Z' | '?')));
        server.resume();
        until("all go on", || all().all(|pid| state(pid) != 'T'));
        assert_eq!(query(&server, false, "SELECT 1"), "1");
        server.pause();
        let pid = server.pid();
        server.stop(None).expect("no log is wanted");
        assert!(!is_alive(pid));
    }
}

#[test]
fn what_was_committed_survives_a_kill_and_a_restart() {
    for product in HERE {
        let mut server = start(&ServerRequest::new(product));
        let database = if product == Product::Postgres { "public" } else { "mysql" };
        query(&server, false, &format!("CREATE TABLE {database}.kept (n INT)"));
        query(&server, false, &format!("INSERT INTO {database}.kept VALUES (42)"));
        let (first, port, others) = (server.pid(), server.port(), children(server.pid()));
        server.kill();
        assert_eq!(server.ended().as_deref(), Some("signal: 9 (SIGKILL)"));
        // Whoever buries them may take a moment.
        until("its others are gone", || others.iter().all(|pid| !is_alive(*pid)));
        server.restart(&|_| {}, &RunStop::default()).expect("it starts again");
        assert!(server.pid() != first && server.port() == port && server.ended().is_none());
        let kept = format!("SELECT n FROM {database}.kept");
        assert_eq!(query(&server, true, &kept), "42");
        // One that lives is ended properly first.
        server.restart(&|_| {}, &RunStop::default()).expect("and again");
        assert_eq!(query(&server, false, &kept), "42");
    }
}

#[test]
fn a_killed_server_leaves_no_shared_memory() {
    let server = start(&ServerRequest::new(Product::Postgres));
    let files = shared_memory(&[&children(server.pid())[..], &[server.pid()]].concat());
    let is_there = |file: &String| fs::exists(file).expect("we may look");
    assert!(!files.is_empty() && files.iter().all(is_there), "{files:?}");
    server.kill();
    drop(server);
    assert!(!files.iter().any(is_there), "{files:?}");
}
