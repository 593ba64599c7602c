//! How the tests start servers, and what they ask of them from outside.

use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::LabError;
use dbtime_lab::servers::{PrivateServer, ServerRequest};
use dbtime_model::Product;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// What Debian 12 has.
pub(crate) const HERE: [Product; 2] = [Product::Mariadb, Product::Postgres];

/// Starts a server that must start.
pub(crate) fn start(request: &ServerRequest) -> PrivateServer {
    try_start(request).unwrap_or_else(|error| {
        panic!("{error}\n(make setup-test installs the servers on Debian)");
    })
}

/// Starts a server.
pub(crate) fn try_start(request: &ServerRequest) -> Result<PrivateServer, LabError> {
    PrivateServer::start(request, &|_| {}, &RunStop::default())
}

/// Starts one that must be refused, and gives the reason.
pub(crate) fn refused(request: &ServerRequest) -> LabError {
    try_start(request).err().expect("this must not start")
}

/// A request with one setting.
pub(crate) fn with(product: Product, name: &str, value: &str) -> ServerRequest {
    let settings = vec![(name.to_owned(), value.to_owned())];
    ServerRequest { settings, ..ServerRequest::new(product) }
}

/// What the product's own client gets for a statement over this way.
pub(crate) fn query(server: &PrivateServer, over_tcp: bool, sql: &str) -> String {
    let file = server.login_file().display().to_string();
    let (program, mut arguments) = client(server, over_tcp, sql);
    if server.product().speaks_mysql() {
        arguments.insert(0, format!("--defaults-extra-file={file}"));
    }
    let output = Command::new(program).env("PGPASSFILE", file).args(arguments).output();
    told(&output.expect("the client is installed"))
}

/// The product's own client for a statement over this way, without a password.
pub(crate) fn client(
    server: &PrivateServer,
    over_tcp: bool,
    sql: &str,
) -> (&'static str, Vec<String>) {
    let port = server.port().to_string();
    let folder = server.socket().parent().expect("a folder").display().to_string();
    let socket = format!("--socket={}", server.socket().display());
    let (program, words) = if server.product() == Product::Postgres {
        let host = if over_tcp { "127.0.0.1" } else { &folder };
        let user = ["-U", server.user(), "-d", "postgres", "-h", host, "-p", &port];
        ("psql", [&["-X", "-A", "-t", "-w", "-c", sql], &user[..]].concat())
    } else {
        let place = match over_tcp {
            true => vec!["--protocol=tcp", "-h127.0.0.1", "-P", &port],
            false => vec!["--protocol=socket", &socket],
        };
        ("mariadb", [&["-u", server.user(), "-N", "-B", "-e", sql], &place[..]].concat())
    };
    (program, words.into_iter().map(str::to_owned).collect())
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Waits for something that must come to be.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(150), "waited for: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process is there and not yet a corpse.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// The state of a process: `S`, `T`, `R` and so on.
pub(crate) fn state(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('?')
}

/// The processes a process has started.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("a /proc").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |child: &u32| {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    numbers.filter(|child| parent(child) == Some(pid)).collect()
}

/// PostgreSQL's files in shared memory that these processes use.
pub(crate) fn shared_memory(processes: &[u32]) -> Vec<String> {
    let maps = processes.iter().map(|pid| fs::read_to_string(format!("/proc/{pid}/maps")));
    let maps: String = maps.filter_map(Result::ok).collect();
    let files = maps.lines().filter_map(|line| line.split_once("/dev/shm/PostgreSQL."));
    files.map(|(_, name)| format!("/dev/shm/PostgreSQL.{name}")).collect()
}

/// Says loudly that something was not tested; fails where CI is set.
pub(crate) fn not_tested(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI must be able to test {what}");
    let told = format!("\nNOT TESTED: {what}\n");
    std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes()).expect("a stderr");
}

/// Whether a folder is empty.
pub(crate) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}
