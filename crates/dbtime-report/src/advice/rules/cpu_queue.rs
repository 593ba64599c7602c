//! Runnable without a CPU: who had it, and how to have fewer in the queue.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::facts;
use crate::format::{clean, counted, percent};
use dbtime_model::record::{BudgetCpuHolder, CpuHolderKind};
use dbtime_model::{Part, Product};

pub(super) const RULE: AdviceRule =
    AdviceRule::new("cpu_queue", &[Part::Runq, Part::RunqPreempted, Part::RunqWoken], advise);

/// A process that uses less of one CPU is not worth a CPU of its own. Unit: percent.
const MIN_OWN_PCT: f64 = 5.0;

/// Who had the CPU in less of the waits is not named. Unit: percent.
const MIN_HOLDER_PCT: f64 = 10.0;

/// So many of them are named.
pub(super) const MAX_HOLDERS: usize = 3;

/// A server that uses this share of its CPUs has little left of them.
const BUSY_SHARE: f64 = 0.8;

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let holders = holders(case);
    advice.because(cause(case, holders.first()));
    holders.iter().take(MAX_HOLDERS).for_each(|holder| advice.figure(had_the_cpu(holder)));
    advice.figures.extend(facts::own_contention(case.record));
    others(case, &holders, advice);
    if case.is_server() {
        driver(case, &holders, advice);
        tracer(case, advice);
    }
    server(case, advice);
    woken(case, advice);
    advice.step("`dbtime ps 10 --exact` during the load: it lists who has the CPUs, for how long");
}

/// Who had the CPUs, as far as that is known.
fn cause(case: &AdviceCase<'_>, first: Option<&BudgetCpuHolder>) -> String {
    let is_busy =
        case.server_cpus().is_some_and(|(used, cpus)| used / f64::from(cpus) >= BUSY_SHARE);
    match first.map(|holder| holder.kind) {
        Some(CpuHolderKind::Driver) => {
            "dbtime itself had the CPUs that the server waited for".to_owned()
        }
        Some(CpuHolderKind::Tracer) => {
            "the tracer had the CPUs that the server waited for".to_owned()
        }
        Some(CpuHolderKind::Server) => {
            "the server's own threads had the CPUs: more want to run than there are CPUs".to_owned()
        }
        Some(_) => format!(
            "{} had the CPUs that were waited for",
            clean(&first.map(name).unwrap_or_default())
        ),
        None if !case.is_server() => {
            "the driver's threads, with the database in them, waited for a CPU".to_owned()
        }
        None if is_busy => "the server's CPUs are full: its threads wait for each other".to_owned(),
        None => "the server waited for a CPU: the process that had it is unknown".to_owned(),
    }
}

/// Who had the CPU, and in how much of the waits.
pub(super) fn had_the_cpu(holder: &BudgetCpuHolder) -> String {
    let (who, share) = (clean(&name(holder)), percent(holder.share_pct));
    format!("{who} had the CPU in {share} of it")
}

/// Who had the CPU; of what has ended the thread's name is left.
fn name(holder: &BudgetCpuHolder) -> String {
    match (holder.kind, &holder.thread) {
        (CpuHolderKind::Ended, Some(thread)) => format!("{thread} (ended)"),
        _ => facts::cpu_holder(holder),
    }
}

/// The processes that had the CPU for a good share, the longest first.
pub(super) fn holders(case: &AdviceCase<'_>) -> Vec<BudgetCpuHolder> {
    let mut sums: Vec<BudgetCpuHolder> = Vec::new();
    for row in case.record.cpu_holders.iter().flatten() {
        // Threads of what has ended need not be of one process.
        let is_same = |sum: &&mut BudgetCpuHolder| {
            (sum.kind, &sum.process) == (row.kind, &row.process)
                && (row.process.is_some() || sum.thread == row.thread)
        };
        match sums.iter_mut().find(is_same) {
            Some(sum) => {
                sum.share_pct += row.share_pct;
                sum.pid = sum.pid.filter(|pid| Some(*pid) == row.pid);
            }
            None => sums.push(row.clone()),
        }
    }
    let is_nobody = |kind| matches!(kind, CpuHolderKind::Others | CpuHolderKind::NotNamed);
    sums.retain(|sum| !is_nobody(sum.kind) && sum.share_pct >= MIN_HOLDER_PCT);
    sums.sort_by(|a, b| b.share_pct.total_cmp(&a.share_pct));
    sums
}

/// The first process that is no part of the run, as it is named.
pub(super) fn other_process(holders: &[BudgetCpuHolder]) -> Option<String> {
    let is_other =
        |holder: &&BudgetCpuHolder| holder.kind == CpuHolderKind::Other && holder.process.is_some();
    holders.iter().find(is_other).map(|holder| clean(&facts::cpu_holder(holder)))
}

/// What to do about such a process. One with the name of the driven server is told apart from it:
/// stopping that would end the run.
pub(super) fn stop(case: &AdviceCase<'_>, process: &str) -> String {
    let name = process.split(" (").next().unwrap_or(process);
    let protocol = case.product.and_then(Product::wire_protocol);
    let who = match protocol.is_some_and(|known| known.programs().contains(&name)) {
        true => format!("another {process}, not the driven server"),
        false => process.to_owned(),
    };
    format!("stop {who}, or keep it to other CPUs")
}

/// Processes that are no part of the run.
fn others(case: &AdviceCase<'_>, holders: &[BudgetCpuHolder], advice: &mut BudgetAdvice) {
    let foreign = case.foreign();
    let is_there = foreign.is_some();
    foreign.into_iter().for_each(|foreign| advice.figure(foreign));
    if let Some(process) = other_process(holders) {
        advice.step(stop(case, &process));
    } else if is_there {
        advice.step("stop those processes, or keep them to other CPUs");
    }
}

/// The driver on the server's machine and CPUs.
fn driver(case: &AdviceCase<'_>, holders: &[BudgetCpuHolder], advice: &mut BudgetAdvice) {
    let record = case.record;
    let used_pct = record.client.usr_pct + record.client.sys_pct;
    let is_here = record.server.is_some() && record.environment.cpus > 1;
    let is_named = holders.iter().any(|holder| holder.kind == CpuHolderKind::Driver);
    if !is_here || keeps_apart(case) || (used_pct < MIN_OWN_PCT && !is_named) {
        return;
    }
    advice
        .figure(format!("beside the server, dbtime itself used {} of one CPU", percent(used_pct)));
    advice.step_at_price(
        "give dbtime CPUs of its own (--client-cpus), and the server (--server-cpus)",
        "the server then has fewer CPUs: compare such runs only with each other",
    );
}

/// Whether the run was told to keep the driver to some CPUs.
fn keeps_apart(case: &AdviceCase<'_>) -> bool {
    let is_given = |flag: &str| {
        case.record.command.split_whitespace().any(|word| {
            word == flag || word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
        })
    };
    match case.record.known_spec() {
        Some(spec) => spec.load.client_cpus.is_some(),
        None => is_given("--client-cpus"),
    }
}

fn tracer(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let own = case.record.trace.as_ref().map_or(0.0, dbtime_model::record::TraceInfo::own_cpu_pct);
    if own >= MIN_OWN_PCT {
        advice.figure(format!("the tracer's processes used {} of one CPU", percent(own)));
        advice.step("run without --trace too: the difference is the cost of tracing");
    }
}

/// Fewer that want a CPU at once, where they are more than there are CPUs.
fn server(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let many = case.concurrency();
    let cpus = case.cpus();
    if let Some((used, cpus)) = case.server_cpus() {
        let share = used / f64::from(cpus);
        let of = counted(cpus.into(), "CPU");
        advice.figure(format!("the server used {} of its {of}", percent(100.0 * share)));
        if share >= BUSY_SHARE {
            advice
                .step("give the server more CPUs, or less to do: see the statements with most cpu");
        }
    }
    let is_idle = case.server_cpus().is_some_and(|(used, cpus)| used < 0.5 * f64::from(cpus));
    if cpus == 0 || many <= cpus || is_idle {
        return;
    }
    advice.step_at_price(
        format!(
            "let fewer than {many} execute at once on {} (--workers)",
            counted(cpus.into(), "CPU")
        ),
        "they wait in the queue instead, which helps where switching costs throughput",
    );
    let has_threads = case.is_set("thread_handling", &["one-thread-per-connection"]);
    if case.product == Some(Product::Mariadb) && has_threads {
        advice.step_at_price(
            "thread_handling=pool-of-threads",
            "a statement may wait for a free thread of the pool",
        );
    }
    if case.product != Some(Product::Mariadb) && case.is_set("innodb_thread_concurrency", &["0"]) {
        advice.step_at_price(
            "innodb_thread_concurrency, at about twice the CPUs",
            "statements wait to enter InnoDB, even for one that waits for a lock inside",
        );
    }
    if case.product == Some(Product::Postgres) {
        advice.step_at_price(
            "a transaction pooler in front of the server",
            "no session state outlives a transaction",
        );
    }
}

/// What the two kinds of waiting come from.
fn woken(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let [woken, preempted] = [Part::RunqWoken, Part::RunqPreempted].map(|part| case.sum(&[part]));
    if woken + preempted > 0.0 {
        advice.figure(format!(
            "{} of it is runq_woken: the awaited event (a request, a lock, a sync, a read) had \
             come, and no CPU was free",
            percent(100.0 * woken / (woken + preempted)),
        ));
    }
}
