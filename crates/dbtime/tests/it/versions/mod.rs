//! Other versions of the servers, fetched by `scripts/versions.sh`: each is driven, and lets in by
//! every way to log in that it has. Tests that other tools come with are run too.

mod loads;
mod logs;
mod mysql_logins;
mod pgbench_tests;
mod postgres_logins;
mod sysbench_suite;

use crate::given_server::GivenServer;
use crate::sandbox::{Sandbox, count, counts_add_up};
use dbtime_model::Product;
use std::path::PathBuf;

/// Where they are: folders with names such as `postgres-18.0`.
const FOLDER: &str = "DBTIME_VERSIONS";

/// What fetches them: a line for each begins with its name.
const SCRIPT: &str = include_str!("../../../../../scripts/versions.sh");

/// The password of everybody that has one.
const PASSWORD: &str = "open-sesame";

/// A version of a server.
pub(crate) struct Version {
    /// Such as `postgres-18.0`.
    pub(crate) name: String,
    pub(crate) product: Product,
    prefix: PathBuf,
}

/// All that are there, oldest first of each product.
fn versions() -> Vec<Version> {
    let folder = std::env::var_os(FOLDER).expect("make test-versions says where they are");
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let version = |prefix: PathBuf| {
        let name = prefix.file_name()?.to_str()?.to_owned();
        let product = Product::named(name.split('-').next()?)?;
        (!name.ends_with(".part")).then_some(Version { name, product, prefix })
    };
    let mut found: Vec<Version> = entries.filter_map(|entry| version(entry.path())).collect();
    found.sort_by_key(|version| (version.product.name(), version.number()));
    assert!(!found.is_empty(), "there is no version");
    let is_fetched = |product: &Product| SCRIPT.contains(&format!("\n{}-", product.name()));
    for product in Product::SERVERS.into_iter().filter(is_fetched) {
        assert!(found.iter().any(|version| version.product == product), "no {product}");
    }
    found
}

/// Those that speak the protocol of MySQL, or those that do not.
pub(crate) fn speaking_mysql(is_wanted: bool) -> impl Iterator<Item = Version> {
    versions().into_iter().filter(move |version| version.product.speaks_mysql() == is_wanted)
}

impl Version {
    /// As its name has it.
    fn text(&self) -> &str {
        self.name.split_once('-').expect("a version").1
    }

    pub(crate) fn number(&self) -> Vec<u32> {
        self.text().split('.').map(|part| part.parse().expect("a number")).collect()
    }

    pub(crate) fn start(&self, settings: &[(&str, &str)]) -> GivenServer {
        say(&self.name);
        GivenServer::start_in(self.product, &self.prefix, settings)
    }

    /// Says loudly that this version cannot do something, which is therefore not tested.
    pub(crate) fn lacks(&self, what: &str) {
        say(&format!("NOT TESTED: {what} on {}, which has no such thing", self.name));
    }
}

/// Past the capture of the test runner, where only failures are shown.
fn say(text: &str) {
    std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes())
        .expect("a stderr");
}

fn come_in(target: &str) -> crate::sandbox::Ran {
    let flags = "--connections 3 --transactions 30 --no-record --json";
    Sandbox::new().run(&format!("run values1 --target '{target}' {flags}"))
}

/// A server that must let in all connections of a run.
fn lets_in(target: &str) {
    let json = come_in(target).fine().json();
    counts_add_up(&json);
    assert_eq!(count(&json, "/counts/completed"), 30, "{target}: {}", json["error_messages"]);
    assert_eq!(count(&json, "/connections/failed"), 0, "{target}: {}", json["connections"]);
}

/// One that must not, and the run says why.
fn refuses(target: &str, told: &[&str]) {
    let ran = come_in(target).refused(3, told);
    assert!(!ran.err.contains(PASSWORD), "{ran:?}");
}
