//! Versions fetched by `scripts/versions.sh`: each starts, answers, survives a kill and ends.

use crate::live::{is_alive, query, refused, start, with};
use crate::strangers::lets_no_stranger_in;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::servers::{PrivateServer, ServerRequest};
use dbtime_model::Product;
use std::path::{Path, PathBuf};

/// Where they are: folders with names such as `postgres-18.0`.
const FOLDER: &str = "DBTIME_VERSIONS";

/// What fetches them: a line for each begins with its name.
const SCRIPT: &str = include_str!("../../../../scripts/versions.sh");

fn of(product: Product, prefix: &Path) -> ServerRequest {
    ServerRequest { prefix: Some(prefix.to_owned()), ..ServerRequest::new(product) }
}

fn lives(product: Product, name: &str, prefix: &Path) {
    let mut server = start(&of(product, prefix));
    let version = name.split_once('-').expect("a version").1;
    assert!(server.version().starts_with(version), "{} is {}", name, server.version());
    assert!(server.binary().starts_with(prefix) && server.product() == product);
    assert_eq!(query(&server, false, "SELECT 1"), "1");
    assert_eq!(query(&server, true, "SELECT 2"), "2");
    server.kill();
    server.restart(&|_| {}, &RunStop::default()).expect("it starts again");
    lets_no_stranger_in(&server);
    let told = query(&server, false, "SELECT VERSION()");
    assert!(told.contains(version), "{told}");
    let pid = server.pid();
    server.stop(None).expect("no log is wanted");
    assert!(!is_alive(pid));
}

fn refuses_and_obeys(product: Product, prefix: &Path) {
    let request = with(product, "no_such_thing", "1");
    let error = refused(&ServerRequest { prefix: Some(prefix.to_owned()), ..request }).to_string();
    assert!(error.contains("no_such_thing") && error.contains("did not start"), "{error}");
    let ask = if product == Product::Postgres { "SHOW " } else { "SELECT @@" };
    let request = ServerRequest {
        connections: Some(600),
        cpus: Some("0".parse().expect("a list")),
        ..of(product, prefix)
    };
    let server: PrivateServer = start(&request);
    let many: u32 = query(&server, true, &format!("{ask}max_connections")).parse().expect("n");
    assert!(many >= 600, "{many}");
}

#[test]
fn every_version_lives() {
    let folder = std::env::var_os(FOLDER).expect("make test-versions says where they are");
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut prefixes: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    prefixes.sort();
    let mut seen = Vec::new();
    for prefix in prefixes {
        let name = prefix.file_name().expect("a name").to_string_lossy().into_owned();
        let word = name.split('-').next().expect("a word");
        let Some(product) = Product::named(word).filter(|_| !name.ends_with(".part")) else {
            continue;
        };
        std::io::Write::write_all(&mut std::io::stderr(), format!("{name}\n").as_bytes())
            .expect("a stderr");
        lives(product, &name, &prefix);
        refuses_and_obeys(product, &prefix);
        seen.push(product);
    }
    let is_fetched = |product: &Product| SCRIPT.contains(&format!("\n{}-", product.name()));
    let mut fetched = Product::SERVERS.into_iter().filter(is_fetched);
    assert!(!seen.is_empty() && fetched.all(|product| seen.contains(&product)), "only {seen:?}");
}
