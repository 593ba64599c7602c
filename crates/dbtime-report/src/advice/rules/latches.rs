//! Locks within the server, which its threads have and no transaction holds.

use crate::advice::BudgetAdvice;
use crate::advice::case::AdviceCase;
use crate::format::clean;
use dbtime_model::Product;

/// A lock of the server's own threads, which this statement let go.
pub(super) fn mutex(case: &AdviceCase<'_>, holder: &str, advice: &mut BudgetAdvice) {
    let name = clean(holder);
    advice.figure(format!(
        "the server has no name for it, unlike locks on rows and tables: it is a mutex inside the \
         server, or something else for which its threads wait on each other, and threads that \
         execute {name} release it"
    ));
    let has_stacks = case.record.trace.as_ref().is_some_and(|trace| trace.stacks.is_some());
    advice.step(if has_stacks {
        "look at Where the server's threads were, in the report: the stacks of lock wait for it \
         (__lll_lock_wait: a mutex of the C library), and its holder is among those on a CPU"
    } else {
        "run it with --stacks too: the report has the functions that wait (lock) and those that \
         run meanwhile, if the server has frame pointers and symbols"
    });
    fewer_inside(case, advice);
    match case.product {
        Some(Product::Postgres) => advice.step(
            "look at extensions and libraries that the server has loaded \
             (shared_preload_libraries): locks of PostgreSQL itself have names",
        ),
        Some(product) => instances(case, product, advice),
        None => {}
    }
}

/// What MariaDB and MySQL can divide, so that each part has locks of its own.
fn instances(case: &AdviceCase<'_>, product: Product, advice: &mut BudgetAdvice) {
    let pools = if product != Product::Mariadb { ", innodb_buffer_pool_instances" } else { "" };
    advice.step(format!(
        "if the mutex belongs to a divided structure, more instances of it: \
         table_open_cache_instances{pools}"
    ));
    let has_threads = case.is_set("thread_handling", &["one-thread-per-connection"]);
    if product == Product::Mariadb && has_threads {
        advice.step_at_price(
            "thread_handling=pool-of-threads, which lets few threads into the server at once",
            "a statement may wait for a free thread of the pool",
        );
    }
}

/// Locks within the server of which no more is known.
pub(super) fn latches(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    fewer_inside(case, advice);
    match case.product {
        Some(Product::Postgres) => advice.step(
            "pg_stat_activity.wait_event during the load: it names the lock (WALWrite: another \
             writes and syncs the log for all)",
        ),
        Some(_) => {
            advice.step("`dbtime trace --summary` during the load: it names locks and holders")
        }
        None => {}
    }
}

fn fewer_inside(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let many = case.concurrency();
    if many > 1 {
        advice.step_at_price(
            format!(
                "let fewer transactions run at once (--workers below {many}): all of them compete \
                 for locks within the server"
            ),
            "transactions wait in the queue instead: try where throughput is best",
        );
    }
}
