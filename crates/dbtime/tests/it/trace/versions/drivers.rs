//! Errors that drivers of several languages are sent, by plain and by encrypted connections: each
//! that was planted is counted by its code, and no other (`tests/drivers/README.md`).

use super::*;
use crate::given_server::PRODUCTS;
use crate::lock_client::LockClient;

/// The file that `scripts/drivers.sh` has printed.
const DRIVERS: &str = "DBTIME_DRIVERS";

/// Where the programs find the plan.
const PLAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/drivers/plan.tsv");

/// A line of the plan.
struct PlannedError {
    kind: String,
    code: String,
}

/// A driver with its program.
struct BuiltDriver {
    name: String,
    modes: Vec<String>,
    program: Vec<String>,
}

/// Lines of columns with a tab between them.
fn rows(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// What is planned for a product, and the statements before all else.
fn plan(product: Product) -> (Vec<PlannedError>, Vec<String>) {
    let (mut errors, mut set_up) = (Vec::new(), Vec::new());
    for row in rows(PLAN) {
        let row: [String; 5] = row.try_into().expect("five columns");
        let [kind, products, code, _, statement] = row;
        if !products.split(',').any(|one| one == product.name()) {
            continue;
        }
        if kind == "set_up" {
            set_up.push(statement);
        } else {
            errors.push(PlannedError { kind, code });
        }
    }
    (errors, set_up)
}

/// Those that speak what a product does.
fn drivers(product: Product) -> Vec<BuiltDriver> {
    let file = std::env::var(DRIVERS).expect("make test-versions says where they are");
    let mut found = Vec::new();
    for row in rows(&file) {
        let row: [String; 4] = row.try_into().expect("four columns");
        let [name, protocol, modes, program] = row;
        if (protocol == "mysql") == product.speaks_mysql() {
            let modes = modes.split(',').map(str::to_owned).collect();
            let program = program.split(' ').map(str::to_owned).collect();
            found.push(BuiltDriver { name, modes, program });
        }
    }
    found
}

/// How often each kind is planted: no two as often.
fn times(errors: &[PlannedError]) -> impl Iterator<Item = (&PlannedError, u64)> {
    errors.iter().zip(2..)
}

/// What differs between what one driver was sent, in one mode, and what was seen of it.
fn difference(
    server: &GivenServer,
    (product, is_encrypted): (Product, bool),
    (driver, mode): (&BuiltDriver, &str),
    errors: &[PlannedError],
) -> Option<String> {
    let sandbox = Sandbox::new();
    let tracer = Tracer::attach(&sandbox, server, "--strict")?;
    // A client of the tests of PostgreSQL is in this database too.
    let database = if product.speaks_mysql() { "d" } else { "postgres" };
    let url = format!(
        "{}://{}@127.0.0.1:{}/{database}?tls={}",
        product.name(),
        server.server.user(),
        server.server.port(),
        if is_encrypted { "yes" } else { "no" }
    );
    let mut program = Command::new(&driver.program[0]);
    program.args(&driver.program[1..]).args([&*driver.name, PLAN, &url, mode]);
    for (error, count) in times(errors) {
        program.arg(&error.kind).arg(count.to_string());
    }
    let output = program.env("DRIVER_PASSWORD", server.server.password().reveal()).output();
    let output = output.unwrap_or_else(|error| panic!("{:?}: {error}", driver.program));
    let seen = tracer.end();
    let expected = by_code(times(errors).map(|(error, count)| (error.code.clone(), count)));
    let found = by_code(seen.requests.iter().filter_map(|request| Some((code(request)?, 1))));
    let is_same = output.status.success()
        && seen.code == Some(0)
        && seen.counted("connection_errors") == 0
        && found == expected;
    let said = String::from_utf8_lossy(&output.stderr);
    (!is_same).then(|| {
        format!(
            "{product} {} {mode} encrypted: {is_encrypted}\n{said}{found:?}\nnot {expected:?}\n{}",
            driver.name, seen.ledger
        )
    })
}

/// The error of a request, as text.
fn code(request: &Value) -> Option<String> {
    match &request["error"] {
        Value::Null => None,
        Value::String(state) => Some(state.clone()),
        number => Some(number.to_string()),
    }
}

fn by_code(errors: impl Iterator<Item = (String, u64)>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (code, count) in errors {
        *counts.entry(code).or_default() += count;
    }
    counts
}

fn are_counted(product: Product, server: &GivenServer) {
    let (errors, set_up) = plan(product);
    assert!(errors.len() >= 8, "eight kinds at least");
    let mut holder = LockClient::connect(product, server);
    set_up.iter().for_each(|sql| holder.query(sql));
    let mut wrong = Vec::new();
    for driver in drivers(product) {
        for mode in &driver.modes {
            // Encrypted first: a server of MySQL's remembers a password that it has been shown.
            for is_encrypted in [true, false] {
                let (on, by) = ((product, is_encrypted), (&driver, &**mode));
                wrong.extend(difference(server, on, by, &errors));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_by_every_driver_are_counted() {
    for product in PRODUCTS {
        let (_certificates, server) = encrypted::start(product);
        if product == Product::Postgres {
            // As PostgreSQL itself hashes it: pq takes no fewer iterations.
            let (user, password) = (server.server.user(), server.server.password().reveal());
            server.sql(&format!("ALTER USER {user} PASSWORD '{password}'"));
        }
        are_counted(product, &server);
    }
}

#[test]
fn errors_of_mysql_by_every_driver_are_counted() {
    each(true, |version| {
        if version.product != Product::Mysql || version.number()[0] < 9 {
            return;
        }
        let certificates = Certificates::new(&start(version));
        let server = certificates.server_by(version.product, |settings| version.start(settings));
        are_counted(version.product, &server);
    });
}
