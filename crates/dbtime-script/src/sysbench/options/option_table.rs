//! Every option that is there before a script declares its own: the one list for reading them, for
//! what scripts see of them, and for the help text.
//!
//! Names and defaults are those of sysbench 1.0.20, and of 1.1 where only that has the option.

use super::CompatMode;
use super::value::OptionType;
use OptionType::{Bool, Double, File, Int, List, Size, Text};

/// Which part of the help text an option belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSection {
    /// How the run goes.
    General,
    /// Random numbers.
    Random,
    /// What is written.
    Log,
    /// Any database.
    Database,
    /// MySQL and MariaDB.
    Mysql,
    /// PostgreSQL.
    Pgsql,
    /// SQLite.
    Sqlite,
    /// What sysbench does not have. Scripts see nothing of it and may declare the same names.
    Dbtime,
    /// Older names.
    Older,
}

/// An option that is always there.
#[derive(Clone, Copy, Debug)]
pub struct KnownOption {
    /// With dashes between its words.
    pub name: &'static str,
    /// How its value is written.
    pub kind: OptionType,
    /// The value where it is not given, as it would be written.
    pub default: &'static str,
    /// Where the help text shows it.
    pub section: OptionSection,
    /// What it does.
    pub about: &'static str,
}

impl KnownOption {
    /// The value where it is not given.
    pub(crate) fn default(&self, compat: CompatMode) -> &'static str {
        match (self.name, compat) {
            ("rand-type", CompatMode::V1_1) => "uniform",
            _ => self.default,
        }
    }
}

/// Older names and what they are called today.
pub(super) const OLDER: [(&str, &str); 4] = [
    ("num-threads", "threads"),
    ("max-requests", "events"),
    ("max-time", "time"),
    ("tx-rate", "rate"),
];

/// The option of a name, with dashes between its words.
pub(super) fn known(name: &str) -> Option<&'static KnownOption> {
    KNOWN.iter().find(|known| known.name == name)
}

const fn row(
    section: OptionSection,
    name: &'static str,
    kind: OptionType,
    default: &'static str,
    about: &'static str,
) -> KnownOption {
    KnownOption { name, kind, default, section, about }
}

use OptionSection::{Database, Dbtime, General, Log, Mysql, Older, Pgsql, Random, Sqlite};

/// All of them, in the order of the help text.
#[rustfmt::skip]
pub const KNOWN: &[KnownOption] = &[
    row(General, "threads", Int, "1", "number of clients"),
    row(General, "events", Int, "0", "end after N events; 0: no limit"),
    row(General, "time", Int, "10", "end after N seconds; 0: no limit"),
    row(General, "warmup-time", Int, "0", "seconds of load before the measurement"),
    row(General, "forced-shutdown", Text, "off", "seconds after --time until the run is aborted, or 'off'"),
    row(General, "thread-stack-size", Size, "64K", "stack of a thread"),
    row(General, "thread-init-timeout", Int, "30", "time limit for the start of threads, in seconds"),
    row(General, "rate", Int, "0", "events per second, at random instants; 0: no limit"),
    row(General, "tx-jitter", Int, "", "with --rate: one event every period, early or late by up to half as many microseconds; 0: a tenth of the period"),
    row(General, "report-interval", Int, "0", "seconds between two report lines; 0: none"),
    row(General, "report-checkpoints", List, "", "instants of full reports, in seconds since the start; each resets the counts"),
    row(General, "debug", Bool, "off", "more messages"),
    row(General, "validate", Bool, "off", "validate results, if the script can"),
    row(General, "help", Bool, "off", "show this text"),
    row(General, "version", Bool, "off", "show the version"),
    row(General, "config-file", File, "", "read options from a file: a line each, name=value"),
    row(General, "luajit-cmd", Text, "", "command for LuaJIT, as behind its -j: off, on, v=FILE and others"),
    row(Random, "rand-type", Text, "special", "distribution of the default numbers: uniform, gaussian, special, pareto, zipfian"),
    row(Random, "rand-spec-iter", Int, "12", "numbers of which a gaussian or special one is the mean"),
    row(Random, "rand-spec-pct", Int, "1", "special: share of all values that are special, in percent"),
    row(Random, "rand-spec-res", Int, "75", "special: share of all draws that give special values, in percent"),
    row(Random, "rand-seed", Int, "0", "seed; 0: from the clock"),
    row(Random, "rand-pareto-h", Double, "0.2", "pareto: its parameter h"),
    row(Random, "rand-zipfian-exp", Double, "0.8", "zipfian: its exponent"),
    row(Log, "verbosity", Int, "3", "level of messages, from 0 (fatal errors) to 5 (everything)"),
    row(Log, "percentile", Int, "95", "percentile of latencies in the report, 1 to 100; 0: none"),
    row(Log, "histogram", Bool, "off", "print a histogram of all latencies"),
    row(Database, "db-driver", Text, "mysql", "database: mysql, pgsql or sqlite"),
    row(Database, "db-ps-mode", Text, "auto", "prepared statements: auto, or disable to send plain text"),
    row(Database, "db-debug", Bool, "off", "more messages about statements"),
    row(Mysql, "mysql-host", List, "localhost", "servers, in turn for each connection"),
    row(Mysql, "mysql-port", List, "3306", "their ports"),
    row(Mysql, "mysql-socket", List, "", "their sockets, in place of host and port"),
    row(Mysql, "mysql-user", Text, "sbtest", "user"),
    row(Mysql, "mysql-password", Text, "", "password"),
    row(Mysql, "mysql-db", Text, "sbtest", "database"),
    row(Mysql, "mysql-ssl", Text, "off", "TLS: on, off, or disabled, preferred, required, verify_ca, verify_identity"),
    row(Mysql, "mysql-ssl-key", Text, "client-key.pem", "file of the client's key"),
    row(Mysql, "mysql-ssl-ca", Text, "cacert.pem", "file of the authority's certificate"),
    row(Mysql, "mysql-ssl-cert", Text, "client-cert.pem", "file of the client's certificate"),
    row(Mysql, "mysql-ssl-cipher", Text, "", "ciphers for TLS"),
    row(Mysql, "mysql-compression", Bool, "off", "compress the protocol"),
    row(Mysql, "mysql-compression-algorithms", Text, "zlib", "how: zlib, zstd, uncompressed"),
    row(Mysql, "mysql-debug", Bool, "off", "trace the protocol"),
    row(Mysql, "mysql-ignore-errors", List, "1213,1020,1205", "errors that do not end a run, or 'all'"),
    row(Mysql, "mysql-dry-run", Bool, "off", "send no statement; each counts as done"),
    row(Pgsql, "pgsql-host", Text, "localhost", "server"),
    row(Pgsql, "pgsql-port", Int, "5432", "its port"),
    row(Pgsql, "pgsql-user", Text, "sbtest", "user"),
    row(Pgsql, "pgsql-password", Text, "", "password"),
    row(Pgsql, "pgsql-db", Text, "sbtest", "database"),
    row(Pgsql, "pgsql-sslmode", Text, "prefer", "TLS: disable, allow, prefer, require, verify-ca, verify-full"),
    row(Sqlite, "sqlite-db", Text, "", "file of the database"),
    row(Dbtime, "target", Text, "", "database as a URL or a bare word, in place of db-driver and its options"),
    row(Dbtime, "compat", Text, "1.0", "defaults and report of sysbench 1.0 or 1.1"),
    row(Dbtime, "classic", Bool, "off", "only sysbench's measurements and report"),
    row(Dbtime, "lua-threads", Bool, "off", "an operating system thread for each client, for scripts that call blocking C"),
    row(Dbtime, "shards", Int, "0", "threads of the load engine; 0: one for each CPU"),
    row(Dbtime, "out", Text, "", "folder for the run's record"),
    row(Dbtime, "json", Bool, "off", "print the run as one JSON document and nothing else"),
    row(Older, "tx-rate", Int, "0", "--rate"),
    row(Older, "max-requests", Int, "0", "--events"),
    row(Older, "max-time", Int, "0", "--time"),
    row(Older, "num-threads", Int, "1", "--threads"),
    row(Older, "test", Text, "", "the script, in place of its name alone"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_type() {
        for known in KNOWN {
            let default = Some(known.default);
            assert!(known.kind.read(default).is_ok(), "{}", known.name);
            let same = KNOWN.iter().filter(|other| other.name == known.name).count();
            assert_eq!(same, 1, "{}", known.name);
        }
    }

    #[test]
    fn older_names_and_what_they_stand_for_are_both_known() {
        for (older, name) in OLDER {
            assert!(known(older).is_some() && known(name).is_some());
        }
    }
}
