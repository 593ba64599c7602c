//! Of ten thousand statements of a real workload each is counted, read, matched and explained.

use super::*;
use crate::given_server::PRODUCTS;
use crate::small_workloads::write_small;

/// A workload, and as many transactions as have ten thousand statements.
const WORKLOADS: [(&str, u32); 2] = [("tpcb", 1450), ("oltp-read-write", 520)];

#[test]
fn each_of_ten_thousand_statements_is_matched_and_explained() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let target = server.target();
        for (workload, transactions) in WORKLOADS {
            let sandbox = Sandbox::new();
            // Of few rows two transactions of the other would often replace the same one.
            let workload = match workload {
                "tpcb" => write_small(&sandbox, workload),
                _ => workload.to_owned(),
            };
            sandbox.run(&format!("init {workload} --target '{target}'")).fine();
            let ran = sandbox.run(&format!(
                "run {workload} --target '{target}' --connections 4 --warmup 0s --trace \
                 --transactions {transactions} --no-record --json"
            ));
            let record: Value =
                serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
            let trace = &record["trace"];
            if trace["ledger"].is_null() {
                return not_tested(&record["validity"].to_string());
            }
            assert_eq!(record["counts"]["completed"], transactions, "{}", record["counts"]);
            let join = |name: &str| trace["join"][name].as_u64().expect("a count");
            assert!(join("matched") >= 10_000, "{workload}: {}", trace["join"]);
            assert_eq!(
                (join("unmatched"), join("ambiguous"), join("left_out")),
                (0, 0, 0),
                "{trace}"
            );
            for lost in ["unread", "dropped", "pipelined_over", "resync", "no_storage"] {
                assert_eq!(counted(&trace["ledger"], lost), 0, "{lost}: {trace}");
            }
            // A connection of dbtime's own may go before its answer.
            let of = |name| counted(&trace["ledger"], name);
            let over = of("ended") + of("in_flight") + of("aborted");
            assert_eq!(of("started"), over, "{trace}");
            let unexplained = record["budget_error"].as_f64().expect("a share");
            assert!(unexplained <= 0.03, "{workload} on {product:?}: {unexplained}");
        }
    }
}
