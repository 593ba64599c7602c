//! The workloads that come with dbtime.

/// Name and file of every shipped workload, sorted by name. To ship another, add its file to
/// `workloads/` and a line here.
pub const SHIPPED: &[(&str, &str)] = &[
    ("atm", include_str!("../../../../workloads/atm.toml")),
    ("oltp-read-only", include_str!("../../../../workloads/oltp-read-only.toml")),
    ("oltp-read-write", include_str!("../../../../workloads/oltp-read-write.toml")),
    ("point-select", include_str!("../../../../workloads/point-select.toml")),
    ("report-scan", include_str!("../../../../workloads/report-scan.toml")),
    ("tpcb", include_str!("../../../../workloads/tpcb.toml")),
    ("values1", include_str!("../../../../workloads/values1.toml")),
];
