//! How often a database went to a page in its buffer pool, and how many of these it had to read.

use super::dialect::is_like;
use super::products::dialect;
use dbtime_model::counters::{CounterDelta, CounterKind, CounterNote, CounterReport, CounterValue};

/// Accesses to pages between two samples.
///
/// Sources: the MySQL and MariaDB manuals, "Server Status Variables":
/// `Innodb_buffer_pool_read_requests`, `Innodb_buffer_pool_reads` (other engines have other
/// caches); the PostgreSQL manual, "pg_stat_database": `blks_hit` and `blks_read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAccesses {
    /// All of them.
    pub all: u64,
    /// Those whose page was not there and was read from a file; the kernel may have had it.
    pub reads: u64,
}

/// The accesses of a report; `None` where the database does not count them, or not from one sample
/// to the other.
pub fn page_accesses(report: &CounterReport) -> Option<PageAccesses> {
    let pages = dialect(report.source.product).pages.as_ref()?;
    let sum = |name: &str| {
        let is_it =
            |delta: &&CounterDelta| delta.name == name && is_like(&delta.group, pages.group);
        let mut counted = report.counters.iter().filter(is_it).map(difference).peekable();
        counted.peek()?;
        counted.sum::<Option<u64>>()
    };
    let all = pages.accesses.iter().map(|name| sum(name)).sum::<Option<u64>>()?;
    Some(PageAccesses { all, reads: sum(pages.reads)? })
}

/// What a counter counted between the samples.
fn difference(delta: &CounterDelta) -> Option<u64> {
    let is_whole = matches!(delta.note, None | Some(CounterNote::Wrapped));
    match delta.difference {
        Some(CounterValue::Unsigned(count)) if is_whole && delta.kind == CounterKind::Counter => {
            Some(count)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{add_rows, difference as report_of};
    use super::*;
    use dbtime_model::Product;
    use dbtime_model::counters::{CounterSample, CounterSource};

    fn accesses(product: Product, samples: [&[(&str, &str)]; 2]) -> Option<PageAccesses> {
        let [before, after] = samples.map(|counters| sample(product, counters));
        page_accesses(&report_of(&before, &after).expect("one server"))
    }

    fn sample(product: Product, counters: &[(&str, &str)]) -> CounterSample {
        let mut sample = CounterSample::new(CounterSource { product, version: None, url: None });
        let cell = |text: &str| Some(text.to_owned());
        match product {
            Product::Postgres => {
                let (mut names, mut row) = (vec!["datname"], vec![cell("app")]);
                names.extend(counters.iter().map(|(name, _)| *name));
                row.extend(counters.iter().map(|(_, value)| cell(value)));
                add_rows(&mut sample, "pg_stat_database", &names, &[row]);
            }
            _ => {
                let rows: Vec<_> =
                    counters.iter().map(|(name, value)| vec![cell(name), cell(value)]).collect();
                add_rows(&mut sample, "global_status", &["Variable_name", "Value"], &rows);
            }
        }
        sample
    }

    #[test]
    fn hits_and_reads_are_all_accesses_of_postgresql() {
        let counted = |hit, read| [("xact_commit", "1"), ("blks_hit", hit), ("blks_read", read)];
        let found = accesses(Product::Postgres, [&counted("100", "10"), &counted("1100", "17")]);
        assert_eq!(found, Some(PageAccesses { all: 1007, reads: 7 }));
        // Set to zero in between: what was counted before is lost.
        let found = accesses(Product::Postgres, [&counted("100", "10"), &counted("50", "17")]);
        assert_eq!(found, None);
    }

    #[test]
    fn requests_are_all_accesses_of_innodb() {
        let (all, reads) = ("Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads");
        let counted = |requests, read| [(all, requests), (reads, read), ("Questions", "1")];
        let found = accesses(Product::Mariadb, [&counted("5", "3"), &counted("905", "3")]);
        assert_eq!(found, Some(PageAccesses { all: 900, reads: 0 }));
        // A server without InnoDB.
        let none = [("Questions", "1")];
        assert_eq!(accesses(Product::Mysql, [&none, &none]), None);
        assert_eq!(accesses(Product::Sqlite, [&[], &[]]), None);
    }
}
