//! Finds an installed server and asks it what it is.

use super::ServerRequest;
use super::launch::ProgramLaunch;
use super::product::{ServerIdentity, ServerPackage, package, package_of_binary};
use crate::error::LabError;
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::Product;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Folders of a prefix that may hold a server; `*` stands for any folder, the newest version first.
const OF_PREFIX: [&str; 10] = [
    "",
    "bin",
    "sbin",
    "libexec",
    "lib/postgresql/*/bin",
    "usr/sbin",
    "usr/bin",
    "usr/libexec",
    "usr/lib/postgresql/*/bin",
    "pgsql/bin",
];

/// Folders of the system that may, after those of `PATH`.
const OF_SYSTEM: [&str; 12] = [
    "/usr/sbin",
    "/usr/bin",
    "/usr/libexec",
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/local/*/bin",
    "/usr/local/*/sbin",
    "/opt/bin",
    "/opt/*/bin",
    "/opt/*/sbin",
];

/// The folder of a prefix with libraries that its programs need, if they are not found otherwise.
const LIBRARIES: &str = "libs";

/// The variable by which programs find libraries.
pub(super) const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// How long a binary may take to say what it is.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// A server that is installed here.
#[derive(Clone, Debug)]
pub(super) struct InstalledServer {
    /// Its binary, links resolved.
    pub(super) binary: PathBuf,
    /// What is peculiar to its product.
    pub(super) package: &'static ServerPackage,
    /// What that prints of itself.
    pub(super) identity: ServerIdentity,
    /// What all its programs need in their environment.
    pub(super) environment: Vec<(String, String)>,
}

impl InstalledServer {
    /// Another program of the same installation.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.binary.with_file_name(name)
    }
}

/// Finds the server that was asked for; `stop` ends that early.
///
/// Errors: nothing there (tells where it looked and how to install it), or something else (tells
/// what, and what to write instead).
pub(super) fn find(request: &ServerRequest, stop: &RunStop) -> Result<InstalledServer, LabError> {
    let package = package(request.product)?;
    let folders = match &request.prefix {
        Some(prefix) => of_prefix(request.product, prefix)?,
        None => of_system(),
    };
    let mut others = Vec::new();
    for binary in binaries(package, &folders) {
        let environment = environment(request, &binary);
        match identify(package, &binary, &environment, stop) {
            Ok(identity) if identity.product == request.product => {
                return Ok(InstalledServer { binary, package, identity, environment });
            }
            other => others.push((binary, other)),
        }
    }
    Err(not_found(request, package, &folders, &others))
}

/// All servers of a product that the system has; `stop` ends that early.
///
/// Errors: the product has no servers.
pub(super) fn all(product: Product, stop: &RunStop) -> Result<Vec<InstalledServer>, LabError> {
    let (request, package) = (ServerRequest::new(product), package(product)?);
    let of_product = |binary: PathBuf| {
        let environment = environment(&request, &binary);
        let identity = identify(package, &binary, &environment, stop).ok()?;
        let is_it = identity.product == product;
        is_it.then_some(InstalledServer { binary, package, identity, environment })
    };
    Ok(binaries(package, &of_system()).into_iter().filter_map(of_product).collect())
}

/// A binary that has the right name, and what it is, or did instead of saying so.
type OtherBinary = (PathBuf, Result<ServerIdentity, String>);

/// What to say when it is not there.
fn not_found(
    request: &ServerRequest,
    package: &ServerPackage,
    folders: &[PathBuf],
    others: &[OtherBinary],
) -> LabError {
    let (product, word) = (request.product, request.product.name());
    let described = |(binary, other): &OtherBinary| match other {
        Ok(identity) => format!("{} is {identity}", binary.display()),
        Err(why) => format!("{} {why}", binary.display()),
    };
    let found = if others.is_empty() {
        let names = package.binaries.join(" or ");
        match &request.prefix {
            Some(prefix) => {
                let inner = listed(OF_PREFIX[1..].iter().map(|inner| (*inner).to_owned()));
                format!("no {names} in {} or its {inner}", prefix.display())
            }
            None => {
                let folders = folders.iter().map(|folder| folder.display().to_string());
                format!("no {names} in {}", listed(folders))
            }
        }
    } else {
        listed(others.iter().map(described))
    };
    let instead = others.iter().find_map(|(_, other)| Some(other.as_ref().ok()?.product.name()));
    let remedy = match (&request.prefix, instead) {
        (Some(prefix), Some(other)) => format!("write --target {other}:{}", prefix.display()),
        (Some(_), None) => "name the folder that holds its bin or sbin".to_owned(),
        (None, Some(other)) => format!(
            "write --target {other}, or name a {product} with --target {word}:/path/to/prefix"
        ),
        (None, None) => format!(
            "{}, or name its folder with --target {word}:/path/to/prefix",
            package.install_hint
        ),
    };
    LabError::Target(format!("there is no {product} server here: {found}; {remedy}"))
}

fn listed(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// Where in a prefix a server may be; the prefix may be its binary itself.
fn of_prefix(product: Product, prefix: &Path) -> Result<Vec<PathBuf>, LabError> {
    let usage = |why: &str| {
        LabError::Usage(format!(
            "--target {}:{}: {why}; name the folder of an installation that holds its bin or sbin",
            product.name(),
            prefix.display()
        ))
    };
    let absolute = prefix.canonicalize().map_err(|error| usage(&error.to_string()))?;
    if absolute.is_file() {
        return Ok(vec![absolute]);
    }
    if !absolute.is_dir() {
        return Err(usage("it is neither a folder nor a file"));
    }
    Ok(OF_PREFIX.iter().flat_map(|folder| expand(&absolute.join(folder))).collect())
}

fn of_system() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_path: Vec<PathBuf> = std::env::split_paths(&path).filter(|f| f.is_absolute()).collect();
    let mut seen = BTreeSet::new();
    let of_system = OF_SYSTEM.iter().flat_map(|folder| expand(Path::new(folder)));
    of_path.into_iter().chain(of_system).filter(|folder| seen.insert(folder.clone())).collect()
}

/// The folders that a pattern stands for, versions in descending order; itself without a `*`.
fn expand(pattern: &Path) -> Vec<PathBuf> {
    let parts: Vec<&str> = pattern.iter().filter_map(|part| part.to_str()).collect();
    let Some(star) = parts.iter().position(|part| part.contains('*')) else {
        return vec![pattern.to_owned()];
    };
    let before: PathBuf = parts[..star].iter().collect();
    let after: PathBuf = parts[star + 1..].iter().collect();
    let (head, tail) = parts[star].split_once('*').unwrap_or(("", ""));
    let entries = fs::read_dir(&before).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| name.starts_with(head) && name.ends_with(tail)).collect();
    names.sort_by(|a, b| rank(b, head).total_cmp(&rank(a, head)).then(a.cmp(b)));
    let folders = names.into_iter().map(|name| before.join(name).join(&after));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// A folder's version as a number; what has none comes last.
fn rank(name: &str, head: &str) -> f64 {
    name.strip_prefix(head).and_then(|version| version.parse().ok()).unwrap_or(-1.0)
}

/// The executable files that may be it, links resolved, each once.
fn binaries(package: &ServerPackage, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let named = package.binaries.iter().map(|name| folder.join(name));
        let itself = folder.is_file().then(|| folder.clone());
        for path in named.chain(itself) {
            let Ok(path) = path.canonicalize() else { continue };
            let is_program = fs::metadata(&path)
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
            if is_program && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// What the programs of this installation need: the user's library path, and the prefix's own.
fn environment(request: &ServerRequest, binary: &Path) -> Vec<(String, String)> {
    let given = request.environment.iter().rev().find(|(name, _)| name == LIBRARY_PATH);
    let given = given.map(|(_, value)| value.reveal().to_owned());
    let own = binary.ancestors().skip(1).take(2).map(|folder| folder.join(LIBRARIES));
    let own = own.into_iter().find(|folder| folder.is_dir()).map(|f| f.display().to_string());
    let inherited = std::env::var(LIBRARY_PATH).ok().filter(|_| own.is_some() || given.is_some());
    let all: Vec<String> = given.into_iter().chain(own).chain(inherited).collect();
    if all.is_empty() { Vec::new() } else { vec![(LIBRARY_PATH.to_owned(), all.join(":"))] }
}

/// Has a binary print its version. The error says what it did instead.
fn identify(
    package: &ServerPackage,
    binary: &Path,
    environment: &[(String, String)],
    stop: &RunStop,
) -> Result<ServerIdentity, String> {
    // A prefix may be that of another product.
    let name = binary.file_name().and_then(|name| name.to_str());
    let arguments = name.and_then(package_of_binary).unwrap_or(package).version_arguments;
    let launch = ProgramLaunch {
        program: binary.to_owned(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: environment.to_vec(),
        folder: PathBuf::from("/"),
        account: None,
        cpus: None,
    };
    let mut command = launch.command();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("does not start ({error})"))?;
    let is_late = |waited: Duration| waited > VERSION_TIMEOUT || stop.is_set();
    let (out, err) = read_until(child, is_late).ok_or("does not print its version")?;
    ServerIdentity::read(&out).ok_or_else(|| {
        let first_line = out.lines().chain(err.lines()).find(|line| !line.trim().is_empty());
        format!("prints `{}` as its version", first_line.unwrap_or("nothing").trim())
    })
}

/// What a program prints, if it ends in time; else it is killed.
fn read_until(mut child: Child, is_late: impl Fn(Duration) -> bool) -> Option<(String, String)> {
    let begun = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if is_late(begun.elapsed()) {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr)))
}

#[cfg(test)]
mod tests {
    use super::super::mysql::{MARIADB, MYSQL};
    use super::*;
    use dbtime_engines::server::secret::ServerSecret;

    #[test]
    fn the_newest_version_comes_first() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["v9.6", "v18", "v17", "vold", "w20", "v5"] {
            fs::create_dir_all(dir.path().join(name).join("bin")).expect("a folder");
        }
        fs::create_dir(dir.path().join("v19")).expect("a folder without bin");
        let found = expand(&dir.path().join("v*/bin"));
        let names: Vec<&str> =
            found.iter().filter_map(|folder| folder.parent()?.file_name()?.to_str()).collect();
        assert_eq!(names, ["v18", "v17", "v9.6", "v5", "vold"]);
        assert_eq!(expand(Path::new("/nowhere/*/bin")), Vec::<PathBuf>::new());
        assert_eq!(expand(Path::new("/nowhere")), [Path::new("/nowhere")]);
    }

    #[test]
    fn only_programs_count_and_each_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path().canonicalize().expect("it is there");
        fs::write(dir.join("mariadbd"), "").expect("written");
        let folders = [dir.clone(), dir.join("missing")];
        assert!(binaries(&MARIADB, &folders).is_empty());
        let program = fs::Permissions::from_mode(0o755);
        fs::set_permissions(dir.join("mariadbd"), program).expect("ours");
        std::os::unix::fs::symlink("mariadbd", dir.join("mysqld")).expect("linked");
        assert_eq!(binaries(&MARIADB, &folders), [dir.join("mariadbd")]);
        assert_eq!(binaries(&MYSQL, &folders), [dir.join("mariadbd")]);
    }

    #[test]
    fn a_binary_that_prints_nothing_does_not_hold_up_an_interrupted_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let (binary, stop) = (dir.path().join("mysqld"), RunStop::default());
        fs::write(&binary, "#!/bin/sh\nexec sleep 600\n").expect("written");
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).expect("ours");
        stop.at(dbtime_machine::now());
        let begun = Instant::now();
        let why = identify(&MYSQL, &binary, &[], &stop).expect_err("it prints nothing");
        assert_eq!(why, "does not print its version");
        assert!(begun.elapsed() < VERSION_TIMEOUT);
    }

    #[test]
    fn libraries_of_the_prefix_come_after_those_of_the_user() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("libs")).expect("a folder");
        let binary = dir.path().join("bin/mysqld");
        let mut request = ServerRequest::new(Product::Mariadb);
        let own = dir.path().join("libs").display().to_string();
        let of = |request: &ServerRequest| environment(request, &binary)[0].1.clone();
        assert!(of(&request).starts_with(&own));
        request.environment = vec![(LIBRARY_PATH.to_owned(), ServerSecret::new("/x"))];
        assert!(of(&request).starts_with(&format!("/x:{own}")));
        request.environment.clear();
        assert!(environment(&request, Path::new("/bin/x")).is_empty());
    }
}
