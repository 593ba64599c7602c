//! Who is let in, who is not, and what they are told.

use crate::postgres::driving::{plan, statement, workload};
use crate::postgres::private::{
    PASSWORD, Server, is_there, major, patient_bound, settings, superuser,
};
use dbtime_engines::databases::postgres::{PostgresIdentity, PostgresProtocol, PostgresShared};
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_engines::socket::{ServerAddress, SocketClient, drive};
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::ErrorClass;
use std::sync::Arc;

const ACCESS: &str = "\
local postgres postgres trust
local scram all scram-sha-256
local md5 all md5
local password all password
local peer all peer
host scram all 127.0.0.1/32 scram-sha-256
host md5 all 127.0.0.1/32 md5
host password all 127.0.0.1/32 password
host postgres gss 127.0.0.1/32 reject
";

fn log_in(
    address: &ServerAddress,
    database: &str,
    user: &str,
    password: &str,
) -> Result<(), DatabaseFailure> {
    let identity = PostgresIdentity {
        user: user.to_owned(),
        password: ServerSecret::new(password),
        database: database.to_owned(),
        ..PostgresIdentity::default()
    };
    let shared = Arc::new(PostgresShared::new(identity));
    let sockets = Arc::new(settings(address.clone()));
    let mut client = SocketClient::<PostgresProtocol>::connect(shared, sockets, patient_bound())
        .map_err(|failure| *failure)?;
    let (found, _) = client.query("SELECT current_user || '@' || current_database()").expect("in");
    assert_eq!(found.value(), Some(format!("{user}@{database}").as_str()));
    assert!(client.protocol().backend_pid().is_some_and(|pid| pid > 1));
    assert!(!client.protocol().server_version().is_empty());
    Ok(())
}

#[test]
fn every_way_to_log_in_lets_the_right_one_in_and_no_other() {
    if !is_there() {
        return;
    }
    // SCRAM came with PostgreSQL 10.
    let has_scram = major() >= 10;
    let access = if has_scram { ACCESS.to_owned() } else { ACCESS.replace("scram-sha-256", "md5") };
    let server = Server::start_with(&[], &access);
    let mut admin = server.client();
    for database in ["scram", "md5", "password", "peer"] {
        admin.query(&format!("CREATE DATABASE {database}")).expect("created");
    }
    let quoted = PASSWORD.replace('\'', "''");
    for (user, encryption) in [("scram", "scram-sha-256"), ("hashed", "md5")] {
        if has_scram {
            admin.query(&format!("SET password_encryption = '{encryption}'")).expect("set");
        }
        let create = format!("CREATE ROLE {user} LOGIN PASSWORD '{quoted}'");
        admin.query(&create).expect("created");
    }
    for address in [server.unix(), server.tcp()] {
        for (database, user) in
            [("scram", "scram"), ("md5", "hashed"), ("md5", "scram"), ("password", "hashed")]
        {
            log_in(&address, database, user, PASSWORD).expect("let in");
            let failure = log_in(&address, database, user, "wrong").expect_err("not let in");
            let found = (failure.code.as_str(), failure.class);
            assert_eq!(found, ("28P01", ErrorClass::Connection), "{failure:?}");
            assert!(failure.message.contains("~/.pgpass"), "{failure:?}");
            let failure = log_in(&address, database, user, "").expect_err("not let in");
            assert!(failure.message.contains("wants a password for"), "{failure:?}");
        }
    }
    // The system's name of this user is no name of a role here.
    let failure = log_in(&server.unix(), "peer", "scram", PASSWORD).expect_err("not let in");
    assert_eq!(failure.code, "28000", "{failure:?}");
    let failure = log_in(&server.tcp(), "postgres", "scram", PASSWORD).expect_err("not let in");
    assert_eq!(failure.code, "28000");
    assert!(failure.message.contains("pg_hba.conf"), "{failure:?}");
    let failure = log_in(&server.unix(), "md5", "nobody", PASSWORD).expect_err("not let in");
    assert_eq!(failure.code, "28P01");
}

#[test]
fn what_is_not_there_is_named() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[
        "max_connections=4",
        "superuser_reserved_connections=0",
        "max_wal_senders=0",
    ]);
    let failure = log_in(&server.unix(), "nowhere", "postgres", "").expect_err("no database");
    assert_eq!((failure.code.as_str(), failure.class), ("3D000", ErrorClass::Connection));
    assert!(failure.message.contains("create the database"), "{failure:?}");
    let nobody = ServerAddress::tcp("127.0.0.1", 1).expect("an address");
    assert_eq!(log_in(&nobody, "x", "x", "").expect_err("nobody").code, "ECONNREFUSED");
    let none = ServerAddress::unix(&server.folder().join("none")).expect("a path");
    assert_eq!(log_in(&none, "x", "x", "").expect_err("nothing").code, "ENOENT");

    // More connections than it takes: those that are there work, the others fail by their code.
    let plan = plan(workload(&statement("SELECT 1")), 12, 400);
    let statements = &plan.workload.statements;
    let shared = PostgresShared::of_workload(superuser(), statements, StatementProtocol::Prepared);
    let sockets = Arc::new(settings(server.unix()));
    let stop = RunStop::default();
    let driven = drive::<PostgresProtocol>(&plan, &Arc::new(shared), &sockets, &NoObserver, &stop);
    let driven = driven.expect("some connected");
    let counts = driven.recorder.counts();
    assert!(counts.add_up() && counts.completed > 0 && counts.failed > 0, "{counts:?}");
    assert_eq!(driven.recorder.errors.keys().collect::<Vec<_>>(), ["53300"]);
    assert!(driven.recorder.errors["53300"].message.contains("raise max_connections"));
    assert!(driven.recorder.connections.failed > 0);
}
