//! A PostgreSQL server of a test's own: own data, own socket, own port, ended by its process id.

use dbtime_engines::databases::postgres::{
    PostgresIdentity, PostgresProtocol, PostgresShared, PostgresTarget,
};
use dbtime_engines::socket::{
    ExchangeBound, ReconnectPolicy, ServerAddress, SimulatedNetwork, SocketClient, SocketSettings,
    TcpKeepalive,
};
use dbtime_model::Nanos;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running server, stopped when this is dropped.
pub(crate) struct Server {
    /// Holds the data, the socket and the log.
    folder: TempDir,
    child: Option<Child>,
    /// Whether it has let somebody in: from then on its port stays.
    has_run: bool,
    settings: Vec<String>,
    pub(crate) port: u16,
}

/// The superuser's password, where one is asked for.
pub(crate) const PASSWORD: &str = "pa\\ss'w:ord";

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(100);

/// Everybody may come in through the Unix socket.
const TRUST: &str = "local all all trust\n";

/// The folder with the server's programs: what `DBTIME_TEST_POSTGRES` says, else where Debian puts
/// them.
fn programs() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("DBTIME_TEST_POSTGRES") {
        return Some(folder.into());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(Result::ok)
        .filter_map(|version| {
            let number = version.file_name().to_str()?.parse().ok()?;
            Some((number, version.path().join("bin")))
        })
        .filter(|(_, bin)| bin.join("postgres").exists() && bin.join("initdb").exists())
        .collect();
    found.sort();
    found.pop().map(|(_, bin)| bin)
}

/// Whether there is a server to test against. Says loudly when not, and fails where CI is set.
pub(crate) fn is_there() -> bool {
    if programs().is_some() {
        return true;
    }
    let missing = "no PostgreSQL under /usr/lib/postgresql (Debian: apt-get install postgresql-15)";
    assert!(std::env::var("CI").as_deref() != Ok("true"), "CI=true, and {missing}");
    println!("NOT TESTED: {missing}");
    false
}

/// The server refuses to run as root: then it runs as `postgres`.
fn user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let accounts = fs::read_to_string("/etc/passwd").expect("accounts");
    let line = accounts.lines().find(|line| line.starts_with("postgres:")).expect("an account");
    let fields: Vec<&str> = line.split(':').collect();
    Some((fields[2].parse().expect("a number"), fields[3].parse().expect("a number")))
}

fn command(program: &str) -> Command {
    let mut command = Command::new(programs().expect("looked for before").join(program));
    if let Some((uid, gid)) = user() {
        command.uid(uid).gid(gid);
    }
    command.current_dir("/").stdin(Stdio::null());
    command
}

fn own(path: &Path) {
    if let Some((uid, gid)) = user() {
        chown(path, Some(uid), Some(gid)).expect("root may");
    }
}

fn version() -> String {
    let version = command("postgres").arg("--version").output().expect("a version").stdout;
    String::from_utf8_lossy(&version).trim().to_owned()
}

/// The first number of the server's version.
pub(crate) fn major() -> u32 {
    let version = version();
    let digits = version.split(|c: char| !c.is_ascii_digit()).find(|word| !word.is_empty());
    digits.and_then(|number| number.parse().ok()).expect("a number")
}

/// A data folder as initdb makes it, made once and copied for each server.
fn template() -> &'static Path {
    static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let name: String = version().chars().filter(|c| c.is_alphanumeric() || *c == '.').collect();
        let made = std::env::temp_dir().join(format!("dbtime-test-{name}"));
        if made.exists() {
            return made;
        }
        let folder = tempfile::Builder::new().prefix("dbtime-pg").tempdir().expect("a folder");
        own(folder.path());
        let password = folder.path().join("password");
        fs::write(&password, PASSWORD).expect("a password");
        own(&password);
        let mut initdb = command("initdb");
        initdb.arg("-D").arg(folder.path().join("data")).arg("--pwfile").arg(&password);
        initdb.args(["-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", "--locale=C"]);
        if major() >= 11 {
            initdb.arg("--wal-segsize=1");
        }
        let output = initdb.output().expect("initdb runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Another process of tests may have been quicker: then its folder is as good.
        if fs::rename(folder.path(), &made).is_ok() {
            let _ = folder.keep();
        }
        made
    })
}

impl Server {
    /// A server that lets everybody in through its Unix socket, with these settings on top.
    pub(crate) fn start(settings: &[&str]) -> Self {
        Self::start_with(settings, TRUST)
    }

    /// A server with a pg_hba.conf of its own.
    pub(crate) fn start_with(settings: &[&str], access: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("dbtime-pg").tempdir().expect("a folder");
        own(folder.path());
        let data = folder.path().join("data");
        let copied = Command::new("cp").arg("-a").arg(template().join("data")).arg(&data).status();
        assert!(copied.expect("cp runs").success());
        fs::write(data.join("pg_hba.conf"), access).expect("written");
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let port = free_port();
        let mut server = Self { folder, child: None, has_run: false, settings, port };
        server.run();
        server
    }

    /// Starts it (again) and waits until it lets somebody in.
    pub(crate) fn run(&mut self) {
        let by = Instant::now() + PATIENCE;
        self.spawn();
        while !self.lets_in() {
            let child = self.child.as_mut().expect("spawned");
            let has_ended = child.try_wait().expect("a child").is_some();
            assert!(Instant::now() < by, "PostgreSQL does not start: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
            if has_ended {
                // The processes of one that was killed may be there still, or somebody else has
                // taken the port since it was looked at.
                if !self.has_run {
                    self.port = free_port();
                }
                self.spawn();
            }
        }
        self.has_run = true;
    }

    fn spawn(&mut self) {
        let log = fs::File::create(self.folder.path().join("log")).expect("a log");
        let mut postgres = command("postgres");
        postgres.arg("-D").arg(self.folder.path().join("data")).arg("-k").arg(self.folder.path());
        postgres.args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        let quick = ["fsync=off", "shared_buffers=32MB", "max_connections=40"];
        for setting in quick.into_iter().chain(self.settings.iter().map(String::as_str)) {
            postgres.args(["-c", setting]);
        }
        postgres.stderr(log.try_clone().expect("a log")).stdout(log);
        self.child = Some(postgres.spawn().expect("postgres runs"));
    }

    /// Whether it looks at who wants in, and does not only say that it is starting.
    fn lets_in(&self) -> bool {
        let shared = Arc::new(PostgresShared::new(superuser()));
        let sockets = Arc::new(settings(self.unix()));
        match SocketClient::<PostgresProtocol>::connect(shared, sockets, patient_bound()) {
            Ok(_) => true,
            Err(failure) => failure.code.starts_with("28") || failure.code == "authentication",
        }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Ends it as a power failure does.
    pub(crate) fn kill(&mut self) {
        self.end(Signal::KILL);
    }

    fn end(&mut self, signal: Signal) {
        let Some(mut child) = self.child.take() else { return };
        let pid = Pid::from_child(&child);
        let _ = kill_process(pid, signal);
        child.wait().expect("a child");
    }

    /// Its Unix socket.
    pub(crate) fn unix(&self) -> ServerAddress {
        let name = format!(".s.PGSQL.{}", self.port);
        ServerAddress::unix(&self.folder.path().join(name)).expect("short")
    }

    /// A connection that nothing has been said on.
    pub(crate) fn bare(&self) -> UnixStream {
        let name = format!(".s.PGSQL.{}", self.port);
        UnixStream::connect(self.folder.path().join(name)).expect("there is room")
    }

    /// Its TCP port.
    pub(crate) fn tcp(&self) -> ServerAddress {
        ServerAddress::tcp("127.0.0.1", self.port).expect("numbers need no name server")
    }

    /// The folder of its socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its superuser's target over the Unix socket.
    pub(crate) fn target(&self) -> PostgresTarget {
        let folder = self.folder.path().display();
        target(&format!("postgres://postgres@/postgres?host={folder}&port={}", self.port))
    }

    /// A connection of the superuser.
    pub(crate) fn client(&self) -> SocketClient<PostgresProtocol> {
        let shared = Arc::new(PostgresShared::new(superuser()));
        let sockets = Arc::new(settings(self.unix()));
        SocketClient::connect(shared, sockets, patient_bound()).expect("let in")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fast shutdown: whoever is connected is thrown out.
        self.end(Signal::INT);
    }
}

/// A target without whatever is in the environment.
pub(crate) fn target(text: &str) -> PostgresTarget {
    PostgresTarget::parse(text, &|_| None).expect("a target")
}

/// The superuser, without a password.
pub(crate) fn superuser() -> PostgresIdentity {
    PostgresIdentity {
        user: "postgres".to_owned(),
        database: "postgres".to_owned(),
        ..PostgresIdentity::default()
    }
}

/// As long as anything in a test may take.
pub(crate) fn patient_bound() -> ExchangeBound {
    ExchangeBound::within(Nanos::from_secs(900))
}

/// How a test's server is reached.
pub(crate) fn settings(address: ServerAddress) -> SocketSettings {
    SocketSettings {
        tls: None,
        address,
        keepalive: TcpKeepalive::default(),
        connect_timeout: Nanos::from_secs(20),
        statement_timeout: None,
        network: SimulatedNetwork::default(),
        reconnect: ReconnectPolicy::WhenLost,
    }
}

/// A port that is free, below those that the system deals out.
fn free_port() -> u16 {
    use std::sync::atomic::{AtomicU16, Ordering};
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (std::process::id() as u16 % 600) * 20 + step % 20;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
