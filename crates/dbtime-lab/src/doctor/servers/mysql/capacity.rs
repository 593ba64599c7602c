//! Whether the server takes the planned connections, and what connecting costs.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use super::set_global;
use dbtime_model::doctor::FindingScope;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "max_connections",
        scope: FindingScope::Server,
        expected: "more than the planned connections",
        source: "max_connections, Threads_connected",
        rule: max_connections,
    },
    ServerCheck {
        id: "thread_cache",
        scope: FindingScope::Server,
        expected: "at most one new thread for ten connections",
        source: "thread_cache_size, Threads_created, Connections",
        rule: thread_cache,
    },
    ServerCheck {
        id: "thread_handling",
        scope: FindingScope::Server,
        expected: "one thread for each connection",
        source: "thread_handling",
        rule: thread_handling,
    },
    ServerCheck {
        id: "prepared_statements",
        scope: FindingScope::Server,
        expected: "room for the planned connections × statements",
        source: "max_prepared_stmt_count, Prepared_stmt_count",
        rule: prepared_statements,
    },
    ServerCheck {
        id: "table_cache",
        scope: FindingScope::Server,
        expected: "at most 5 % of the openings miss it",
        source: "table_open_cache, Table_open_cache_hits, Table_open_cache_misses",
        rule: table_cache,
    },
    ServerCheck {
        id: "name_resolve",
        scope: FindingScope::Server,
        expected: "skip_name_resolve on, or a client on the server's machine",
        source: "skip_name_resolve",
        rule: name_resolve,
    },
];

/// What the server itself takes for these limits at most (manual, "Server System Variables").
const MOST_CONNECTIONS: u64 = 100_000;
const MOST_STATEMENTS: u64 = 1_048_576;

fn max_connections(server: &ExaminedServer) -> RuleResult {
    let name = "max_connections";
    // The login that looks is one of them.
    let used = server.counted("Threads_connected")?.saturating_sub(1);
    let most = server.amount(name)?;
    let planned = server.planned.connections.ok_or_else(|| {
        format!("the server takes {most}, and no number of connections is planned: --connections")
    })?;
    let needed = planned.saturating_add(used);
    let value = format!("{most}, {used} of them used, {planned} planned");
    if needed <= most {
        return Ok(CheckVerdict::good(value, "all connections find a place"));
    }
    let costs = "Connections beyond it fail with error 1040 (MySQL manual, \"Too many \
                 connections\")";
    let verdict = CheckVerdict::bad(value, "not all planned connections find a place", costs);
    if needed > MOST_CONNECTIONS {
        return Ok(verdict.mended(format!("plan at most {most} connections"), ""));
    }
    Ok(verdict.mended(set_global(name, needed), set_global(name, most)))
}

/// More threads than that are kept for nothing. Unit: threads.
const MOST_CACHED: u64 = 1_000;

fn thread_cache(server: &ExaminedServer) -> RuleResult {
    let name = "thread_cache_size";
    let size = server.amount(name)?;
    let (created, connections) =
        (server.counted("Threads_created")?, server.counted("Connections")?);
    let value = format!("{size}; {created} threads made for {connections} connections");
    if connections < 1_000 || created <= connections / 10 {
        return Ok(CheckVerdict::good(value, "threads are used again"));
    }
    let because = "most connections wait until a thread is made for them";
    let costs = "Not measured here: `dbtime run --reconnect every-transaction` shows it (MySQL \
                 manual, \"thread_cache_size\")";
    let verdict = CheckVerdict::note(value, because, costs);
    let wide = server.planned.connections.unwrap_or(100).min(MOST_CACHED);
    Ok(match wide > size {
        true => verdict.mended(set_global(name, wide), set_global(name, size)),
        false => verdict,
    })
}

fn thread_handling(server: &ExaminedServer) -> RuleResult {
    let way = server.setting("thread_handling")?;
    if way.eq_ignore_ascii_case("one-thread-per-connection") {
        return Ok(CheckVerdict::good(way, "a connection has its own thread"));
    }
    let because = "connections share threads: statements may wait for one, and a thread's times \
                   are not those of one connection";
    let costs = "Not measured here. A statement waits until a group has a free thread (MariaDB \
                 manual, \"Thread Pool in MariaDB\")";
    let fix = "start the server with thread_handling=one-thread-per-connection";
    let undo = "start it with the thread_handling it has now";
    Ok(CheckVerdict::note(way, because, costs).mended(fix, undo))
}

fn prepared_statements(server: &ExaminedServer) -> RuleResult {
    let name = "max_prepared_stmt_count";
    let (most, used) = (server.amount(name)?, server.counted("Prepared_stmt_count")?);
    let (Some(connections), Some(statements)) =
        (server.planned.connections, server.planned.statements)
    else {
        return Err(format!("the server holds {most}, and no number of statements is planned"));
    };
    let planned = connections.saturating_mul(statements);
    let needed = planned.saturating_add(used);
    let value = format!("{most}, {used} of them used, {planned} planned");
    if needed <= most {
        return Ok(CheckVerdict::good(value, "all statements can be prepared"));
    }
    let costs = "Statements beyond it fail with error 1461 (MySQL manual, \
                 \"max_prepared_stmt_count\")";
    let verdict = CheckVerdict::bad(value, "not all statements can be prepared", costs);
    if needed > MOST_STATEMENTS {
        return Ok(verdict.mended("use --protocol text, or fewer connections", ""));
    }
    Ok(verdict.mended(set_global(name, needed), set_global(name, most)))
}

/// Unit: tables that are open at once.
const MOST_TABLES: u64 = 16_384;

fn table_cache(server: &ExaminedServer) -> RuleResult {
    let name = "table_open_cache";
    let size = server.amount(name)?;
    let hits = server.counted("Table_open_cache_hits")?;
    let misses = server.counted("Table_open_cache_misses")?;
    let value = format!("{size}; {misses} of {} openings missed", hits.saturating_add(misses));
    if misses < 1_000 || misses <= hits.saturating_add(misses) / 20 {
        return Ok(CheckVerdict::good(value, "tables stay open"));
    }
    let because = "tables are opened again and again, under a lock";
    let costs = "Not measured here (MySQL manual, \"How MySQL Opens and Closes Tables\")";
    let verdict = CheckVerdict::note(value, because, costs);
    let wide = size.saturating_mul(2).min(MOST_TABLES);
    Ok(match wide > size {
        true => verdict.mended(set_global(name, wide), set_global(name, size)),
        false => verdict,
    })
}

fn name_resolve(server: &ExaminedServer) -> RuleResult {
    if server.is_on("skip_name_resolve")? {
        return Ok(CheckVerdict::good("on", "addresses of clients are not looked up"));
    }
    if !server.is_networked {
        let because = "clients by a Unix socket or the loopback are not looked up";
        return Ok(CheckVerdict::good("off", because));
    }
    let because = "a client's address is looked up when it connects for the first time";
    let costs = "Not measured here. A name server that does not answer holds up connections for \
                 seconds (MySQL manual, \"DNS Lookups and the Host Cache\")";
    let fix = "start the server with skip_name_resolve=ON, where no account has a host name";
    let undo = "start it with skip_name_resolve=OFF";
    Ok(CheckVerdict::note("off", because, costs).mended(fix, undo))
}
