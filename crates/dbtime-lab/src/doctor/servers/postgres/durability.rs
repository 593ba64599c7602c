//! The build, and what a crash would cost.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::durability::DurabilityClass;
use super::super::examined::ExaminedServer;
use super::alter_system;
use dbtime_model::doctor::FindingScope;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "debug_build",
        scope: FindingScope::Server,
        expected: "debug_assertions off",
        source: "debug_assertions",
        rule: debug_build,
    },
    ServerCheck {
        id: "durability",
        scope: FindingScope::Server,
        expected: "D3, or the class of production",
        source: "fsync, synchronous_commit, full_page_writes, wal_sync_method",
        rule: durability,
    },
];

fn debug_build(server: &ExaminedServer) -> RuleResult {
    if !server.is_on("debug_assertions")? {
        return Ok(CheckVerdict::good("off", "the server was built without assertions"));
    }
    let costs = "Not measured here. Assertions slow the server down significantly (PostgreSQL \
                 manual, \"Installation from Source Code\")";
    let verdict = CheckVerdict::bad("on", "figures of a debug build hold for no other", costs);
    Ok(verdict.mended("install a build without --enable-cassert", ""))
}

fn durability(server: &ExaminedServer) -> RuleResult {
    let (syncs, pages) = (server.is_on("fsync")?, server.is_on("full_page_writes")?);
    let commit = server.setting("synchronous_commit")?;
    let method = server.setting("wal_sync_method").unwrap_or("not shown");
    let waits = match commit {
        "on" | "local" | "remote_write" | "remote_apply" => true,
        "off" => false,
        _ => return Err("synchronous_commit has a value whose meaning is not known".to_owned()),
    };
    let class = match (syncs, waits, pages) {
        (false, ..) | (_, false, false) => DurabilityClass::Damage,
        (_, false, _) => DurabilityClass::Loss,
        (_, _, false) => DurabilityClass::Gap,
        (true, true, true) => DurabilityClass::Full,
    };
    let on_off = |is_on: bool| if is_on { "on" } else { "off" };
    let settings = format!(
        "fsync={}, synchronous_commit={commit}, full_page_writes={}, wal_sync_method={method}",
        on_off(syncs),
        on_off(pages)
    );
    let verdict = class.verdict(&settings, "PostgreSQL manual, \"Reliability\"");
    let all = [("fsync", syncs), ("full_page_writes", pages), ("synchronous_commit", waits)];
    let set = |value: &'static str| {
        let off = all.iter().filter(|(_, is_on)| !is_on);
        alter_system(server, &off.map(|(name, _)| (*name, value)).collect::<Vec<_>>())
    };
    Ok(match class {
        DurabilityClass::Full => verdict,
        _ => verdict.mended(set("on"), set("off")),
    })
}
