//! Settings of connections: what a crash would cost, and what is kept in memory.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::durability::DurabilityClass;
use super::super::examined::ExaminedServer;
use super::super::memory::CacheFit;
use dbtime_model::doctor::FindingScope;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "durability",
        scope: FindingScope::Server,
        expected: "D3, or the class of production",
        source: "journal_mode, synchronous",
        rule: durability,
    },
    ServerCheck {
        id: "page_size",
        scope: FindingScope::Data,
        expected: "4096 to 16384 bytes",
        source: "page_size",
        rule: page_size,
    },
    ServerCheck {
        id: "cache_size",
        scope: FindingScope::Data,
        expected: "at most half of the memory, and known whether the data fit",
        source: "cache_size, the size of the file",
        rule: cache_size,
    },
    ServerCheck {
        id: "mmap_size",
        scope: FindingScope::Server,
        expected: "0",
        source: "mmap_size",
        rule: mmap_size,
    },
];

fn durability(server: &ExaminedServer) -> RuleResult {
    let (journal, synced) = (server.setting("journal_mode")?, server.setting("synchronous")?);
    let class = match (journal, synced) {
        ("off" | "memory", _) | (_, "off") => DurabilityClass::Damage,
        ("wal", "normal") => DurabilityClass::Loss,
        ("delete" | "truncate" | "persist", "normal") => DurabilityClass::Gap,
        (_, "full" | "extra") => DurabilityClass::Full,
        _ => return Err("synchronous has a value whose meaning is not known".to_owned()),
    };
    let settings = format!("dbtime connects with journal_mode={journal}, synchronous={synced}");
    let verdict = class.verdict(&settings, "SQLite manual, \"PRAGMA synchronous\"");
    Ok(match class {
        DurabilityClass::Full => verdict,
        _ => verdict.mended(
            "sqlite:PATH?synchronous=full, with journal_mode=wal or delete",
            "leave both out of the target",
        ),
    })
}

fn page_size(server: &ExaminedServer) -> RuleResult {
    let bytes = server.amount("page_size")?;
    let value = format!("{bytes} bytes");
    if (4_096..=16_384).contains(&bytes) {
        return Ok(CheckVerdict::good(value, "a page is one or a few pages of the file system"));
    }
    let because = match bytes < 4_096 {
        true => "a page is smaller than one of the file system, so that trees are deeper",
        false => "each change of a row writes a large page",
    };
    let costs = "Not measured here (SQLite manual, \"PRAGMA page_size\")";
    let fix = "PRAGMA page_size = 4096; VACUUM, outside of WAL mode";
    let undo = format!("PRAGMA page_size = {bytes}; VACUUM");
    Ok(CheckVerdict::note(value, because, costs).mended(fix, undo))
}

fn cache_size(server: &ExaminedServer) -> RuleResult {
    let given = server.decimal("cache_size")?;
    // Pages, or KiB below zero.
    let cache = match given < 0.0 {
        true => -given * 1_024.0,
        false => given * server.amount("page_size")? as f64,
    };
    let fit = CacheFit {
        cache: cache as u64,
        data: server.counted("file_bytes")?,
        hidden_from: None,
        memory: server.memory_bytes,
        most_pct: 50,
        enough_pct: 25,
        manual: "SQLite manual, \"PRAGMA cache_size\", which is of each connection",
    };
    fit.verdict(|bytes| format!("sqlite:PATH?cache_size=-{}", bytes / 1_024))
}

fn mmap_size(server: &ExaminedServer) -> RuleResult {
    let bytes = server.amount("mmap_size")?;
    if bytes == 0 {
        return Ok(CheckVerdict::good("0", "reads are calls, which can be timed"));
    }
    let because = "reads by page fault cannot be timed: they stay unexplained";
    let costs = "Not measured here (SQLite manual, \"Memory-Mapped I/O\")";
    let undo = format!("sqlite:PATH?mmap_size={bytes}");
    let verdict = CheckVerdict::note(format!("{bytes} bytes"), because, costs);
    Ok(verdict.mended("sqlite:PATH?mmap_size=0", undo))
}
