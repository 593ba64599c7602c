//! Logs of every version, over which `log` counts what the driver sent.

use super::{Version, versions};
use crate::log_servers::{agrees_with_the_driver, logging};
use dbtime_model::Product;

#[test]
fn what_every_version_logs_is_counted_as_it_was_sent() {
    for version in versions() {
        let given = version.start(logging(version.product));
        agrees_with_the_driver(given, version.logs_more());
    }
}

impl Version {
    /// Whether its logs have what newer ones have: PostgreSQL's jsonlog, or the errors in the slow
    /// log of MySQL.
    fn logs_more(&self) -> bool {
        let since = match self.product {
            Product::Postgres => 15,
            Product::Mysql => 9,
            _ => return false,
        };
        let is_newer = self.number()[0] >= since;
        if !is_newer {
            self.lacks("the logs of newer versions");
        }
        is_newer
    }
}
