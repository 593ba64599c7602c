//! Shared memory, and the connections that it is for.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use super::super::memory::CacheFit;
use super::{alter_start, alter_system};
use crate::targets::megabytes;
use dbtime_model::doctor::FindingScope;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "shared_buffers",
        scope: FindingScope::Data,
        expected: "at most 40 % of the memory, and known whether the data fit",
        source: "shared_buffers, pg_database_size()",
        rule: shared_buffers,
    },
    ServerCheck {
        id: "huge_pages",
        scope: FindingScope::Server,
        expected: "used for shared_buffers from 8 GB on",
        source: "huge_pages_status, huge_pages, shared_buffers",
        rule: huge_pages,
    },
    ServerCheck {
        id: "max_connections",
        scope: FindingScope::Server,
        expected: "more than the planned connections",
        source: "max_connections, superuser_reserved_connections, reserved_connections, \
                 pg_stat_activity",
        rule: max_connections,
    },
    ServerCheck {
        id: "jit",
        scope: FindingScope::Server,
        expected: "off, or for expensive statements alone",
        source: "jit, jit_above_cost",
        rule: jit,
    },
];

/// Bytes of the database.
pub(super) const SIZE: &str = "SELECT pg_catalog.pg_database_size(pg_catalog.current_database())";

fn shared_buffers(server: &ExaminedServer) -> RuleResult {
    let fit = CacheFit {
        cache: server.amount("shared_buffers")?,
        data: server.figure("data size", 0)?,
        hidden_from: None,
        memory: server.memory_bytes,
        most_pct: 40,
        enough_pct: 25,
        manual: "PostgreSQL manual, \"Resource Consumption\"",
    };
    fit.verdict(|bytes| alter_start(server, "shared_buffers", format_args!("{}kB", bytes / 1024)))
}

/// From this size on the tables of pages are large themselves. Unit: bytes.
const LARGE_BUFFERS: u64 = 8 << 30;

/// Of the usual size. Unit: bytes.
const HUGE_PAGE: u64 = 2 << 20;

fn huge_pages(server: &ExaminedServer) -> RuleResult {
    let bytes = server.amount("shared_buffers")?;
    // Before PostgreSQL 17 only what was tried is known.
    let status = server.setting("huge_pages_status").or_else(|_| server.setting("huge_pages"))?;
    let value = format!("{status}, for {}", megabytes(bytes));
    if bytes < LARGE_BUFFERS || status == "on" {
        return Ok(CheckVerdict::good(value, "page tables are small beside the buffers"));
    }
    if status == "try" {
        return Err("huge_pages is try, and this version does not show whether it has them".into());
    }
    let because = "each session has page tables of its own for the buffers";
    let costs = "Not measured here. A session that reads all of them has 2 MB of page tables for \
                 each GB (PostgreSQL manual, \"Linux Huge Pages\")";
    // A fiftieth more for what else is shared.
    let pages = (bytes / HUGE_PAGE).saturating_mul(51) / 50;
    let set = |value: &str| alter_start(server, "huge_pages", value);
    let fix = format!("vm.nr_hugepages = {pages}, {}", set("try"));
    let undo = format!("the vm.nr_hugepages from before, {}", set("off"));
    Ok(CheckVerdict::note(value, because, costs).mended(fix, undo))
}

/// Beyond that a pooler is the answer. Unit: connections.
const MOST_CONNECTIONS: u64 = 5_000;

fn max_connections(server: &ExaminedServer) -> RuleResult {
    let name = "max_connections";
    let (most, used) = (server.amount(name)?, server.figure("client connections", 0)?);
    let reserved = server.amount("superuser_reserved_connections")?;
    // From PostgreSQL 16 on there are others besides.
    let reserved = reserved.saturating_add(server.amount("reserved_connections").unwrap_or(0));
    // They are for superusers.
    let is_superuser = server.figure("client connections", 1).is_ok_and(|is| is == 1);
    let reserved = if is_superuser { 0 } else { reserved };
    let planned = server.planned.connections.ok_or_else(|| {
        format!("the server takes {most}, and no number of connections is planned: --connections")
    })?;
    let needed = planned.saturating_add(used).saturating_add(reserved);
    let value = format!("{most}, {used} of them used, {reserved} reserved, {planned} planned");
    if needed <= most {
        return Ok(CheckVerdict::good(value, "all connections find a place"));
    }
    let costs = "Connections beyond it fail with SQLSTATE 53300 (PostgreSQL manual, \"PostgreSQL \
                 Error Codes\")";
    let verdict = CheckVerdict::bad(value, "not all planned connections find a place", costs);
    if needed > MOST_CONNECTIONS {
        return Ok(verdict.mended("plan fewer connections, or put a pooler before the server", ""));
    }
    Ok(verdict.mended(alter_start(server, name, needed), alter_start(server, name, most)))
}

/// The default of the server, in units of its planner.
const JIT_COST: f64 = 100_000.0;

fn jit(server: &ExaminedServer) -> RuleResult {
    server.setting("max_connections")?;
    if server.setting("jit").is_err() {
        return Ok(CheckVerdict::good("none", "this version compiles no statements"));
    }
    if !server.is_on("jit")? {
        return Ok(CheckVerdict::good("off", "statements are not compiled"));
    }
    let cost = server.decimal("jit_above_cost")?;
    let value = format!("on, above a cost of {cost}");
    if !(0.0..JIT_COST).contains(&cost) {
        return Ok(CheckVerdict::good(value, "short statements are not compiled"));
    }
    let because = "statements that are not expensive are compiled too";
    let costs = "Not measured here: EXPLAIN (ANALYZE) shows the time under JIT (PostgreSQL manual, \
                 \"When to JIT?\")";
    let set = |cost: f64| alter_system(server, &[("jit_above_cost", cost.to_string().as_str())]);
    Ok(CheckVerdict::note(value, because, costs).mended(set(JIT_COST), set(cost)))
}
