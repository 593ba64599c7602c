//! `log` over what nginx and Apache wrote: counts and bytes of each route are those that were
//! received.
//!
//! Needs both (Debian: `apt-get install nginx apache2-bin`). Without one the test passes and says
//! loudly that it did not run; with CI set it fails.

use crate::sandbox::{PATIENCE, Sandbox, count};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Connections, one after the other, and requests on each: a multiple of the number of routes.
const CONNECTIONS: usize = 3;
const REQUESTS: usize = 40;

/// The routes as classes, what is requested of each, and whether it fails.
const ROUTES: [(&str, &str, bool); 4] = [
    ("GET /item/:n", "/item/4711", false),
    ("GET /item/:n?q=", "/item/4712?q=value", false),
    ("GET /gone", "/gone", true),
    ("GET /nowhere", "/nowhere", true),
];

/// Of nginx, with the duration.
const TIMED: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status \
                     $body_bytes_sent $request_time $connection $connection_requests";

/// Of Apache, as the digest has it under this name.
const RSCOMMON: &str = r#"%h %l %u %t \"%r\" %>s %b %{pid}P %X %D"#;

/// A web server in the foreground, which ends with the test.
struct WebServer(Child);

impl Drop for WebServer {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        // Either takes this for an order to end at once, with all its processes.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

impl WebServer {
    /// Starts one that listens on a port; `None`: it is not installed, which is said loudly.
    fn start(sandbox: &Sandbox, program: &str, arguments: &[&str], port: u16) -> Option<Self> {
        let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/bin"];
        let files = folders.map(|folder| Path::new(folder).join(program));
        let Some(file) = files.into_iter().find(|file| file.is_file()) else {
            assert!(std::env::var_os("CI").is_none(), "CI must have {program}");
            let told = format!("\nNOT TESTED: logs of {program}, which is not installed\n");
            std::io::stderr().write_all(told.as_bytes()).expect("a stderr");
            return None;
        };
        let printed = fs::File::create(sandbox.path("printed")).expect("a file");
        let mut command = Command::new(file);
        command.args(arguments).current_dir(sandbox.path("")).stdin(Stdio::null());
        command.stdout(printed.try_clone().expect("a copy")).stderr(printed);
        let server = Self(command.spawn().expect("it starts"));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let printed = || fs::read_to_string(sandbox.path("printed")).unwrap_or_default();
            assert!(begun.elapsed() < PATIENCE, "{program} does not listen: {}", printed());
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("its address").port()
}

/// Sends requests for the routes in turn; the bytes of the bodies received, by class.
fn receive(port: u16) -> BTreeMap<&'static str, u64> {
    let mut bytes = BTreeMap::new();
    for _ in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let mut answers = BufReader::new(stream.try_clone().expect("the same"));
        for index in 0..REQUESTS {
            let (class, path, _) = ROUTES[index % ROUTES.len()];
            let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("it reads");
            *bytes.entry(class).or_insert(0) += body(&mut answers);
        }
    }
    bytes
}

/// Reads an answer; the length of its body.
fn body(answers: &mut BufReader<TcpStream>) -> u64 {
    let mut length = None;
    loop {
        let mut line = String::new();
        let read = answers.read_line(&mut line).expect("a head");
        assert!(read > 0, "the server keeps the connection");
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.expect("a length");
    let mut body = vec![0; length as usize];
    answers.read_exact(&mut body).expect("all of it");
    length
}

/// Waits until a log has all requests, and compares its digest with what was received.
fn agrees(sandbox: &Sandbox, log: &str, flags: &str, bytes: &BTreeMap<&str, u64>) {
    let all = CONNECTIONS * REQUESTS;
    let begun = Instant::now();
    while fs::read_to_string(sandbox.path(log)).map_or(0, |text| text.lines().count()) < all {
        assert!(begun.elapsed() < PATIENCE, "{log} has fewer requests than {all}");
        std::thread::sleep(Duration::from_millis(20));
    }
    let digest = sandbox.run(&format!("log {log} {flags} --json")).fine().json();
    assert_eq!(count(&digest, "/inputs/0/records"), all as u64, "{log}");
    assert!(digest["inputs"][0]["unread"].is_null(), "{log}: {}", digest["inputs"]);
    let classes = digest["classes"].as_array().expect("classes");
    assert_eq!(classes.len(), ROUTES.len(), "{log}: {digest:#}");
    let each = (all / ROUTES.len()) as u64;
    for (text, _, fails) in ROUTES {
        let class = classes.iter().find(|class| class["text"] == text);
        let class = class.unwrap_or_else(|| panic!("{log}: no {text} in {digest:#}"));
        assert_eq!(count(class, "/count"), each, "{log}: {class:#}");
        assert_eq!(count(class, "/errors"), if fails { each } else { 0 }, "{log}: {class:#}");
        let sent = class.pointer("/figures/bytes_sent/total").and_then(Value::as_f64);
        assert_eq!(sent, Some(bytes[text] as f64), "{log}: {class:#}");
        assert_eq!(class["times"].is_null(), flags.is_empty(), "{log}: {class:#}");
    }
}

#[test]
fn logs_of_nginx_have_what_was_received() {
    let (sandbox, port) = (Sandbox::new(), free_port());
    // By paths relative to its folder.
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path tmp/{name};\n"))
        .concat();
    sandbox.write(
        "nginx.conf",
        &format!(
            "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\n\
             events {{ worker_connections 64; }}\nhttp {{\n{temporary}\
             log_format timed '{TIMED}';\naccess_log combined.log combined;\n\
             access_log timed.log timed;\nserver {{\nlisten 127.0.0.1:{port};\n\
             location /item/ {{ return 200 'an item'; }}\nlocation / {{ return 404; }}\n\
             location /gone {{ return 410 'no longer there'; }}\n}}\n}}\n"
        ),
    );
    let folder = format!("{}/", sandbox.path("").display());
    let arguments = ["-p", &folder, "-c", "nginx.conf", "-e", "error.log"];
    let Some(_server) = WebServer::start(&sandbox, "nginx", &arguments, port) else { return };
    let bytes = receive(port);
    agrees(&sandbox, "combined.log", "", &bytes);
    agrees(&sandbox, "timed.log", &format!("--access-format '{TIMED}'"), &bytes);
}

/// Of an Apache whose files are all in a folder.
fn apache_configuration(folder: &str, port: u16) -> String {
    let modules: String = ["mpm_event", "authz_core"]
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .concat();
    // Only root may become another user, and has to.
    let user = match rustix::process::geteuid().is_root() {
        true => "User www-data\nGroup www-data\n",
        false => "",
    };
    format!(
        "ServerRoot {folder}\nServerName localhost\nListen 127.0.0.1:{port}\n\
         PidFile apache.pid\nDefaultRuntimeDir {folder}\n{modules}{user}\
         ErrorLog error.log\nLogFormat \"{RSCOMMON}\" rscommon\n\
         CustomLog timed.log rscommon\nCustomLog common.log \"%h %l %u %t \\\"%r\\\" %>s %b\"\n\
         MaxKeepAliveRequests 0\nDocumentRoot {folder}/www\n"
    )
}

#[test]
fn logs_of_apache_have_what_was_received() {
    let (sandbox, port) = (Sandbox::new(), free_port());
    sandbox.open_to_all();
    let folder = sandbox.path("").display().to_string();
    for name in ["4711", "4712"] {
        fs::create_dir_all(sandbox.path("www/item")).expect("a folder");
        sandbox.write(&format!("www/item/{name}"), "an item\n");
    }
    sandbox.write("apache.conf", &apache_configuration(&folder, port));
    let file = format!("{folder}/apache.conf");
    let arguments = ["-d", &folder, "-f", &file, "-DFOREGROUND"];
    let Some(_server) = WebServer::start(&sandbox, "apache2", &arguments, port) else { return };
    let bytes = receive(port);
    agrees(&sandbox, "common.log", "", &bytes);
    agrees(&sandbox, "timed.log", "--access-format rscommon", &bytes);
}
