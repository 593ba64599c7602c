//! The HTML report of every hand-made run: well-formed, self-contained, and safe whatever the
//! record holds.

use crate::fixtures;
use dbtime_model::record::{FactorValue, Run};
use dbtime_model::study::{RecordedStudy, TrialOutcome};
use dbtime_report::charts::CHARTS;
use dbtime_report::compare::{RunComparison, SweepComparison, runs_document, sweeps_document};
use dbtime_report::html;
use roxmltree::{Document, Node};

/// The page as a strict parser of XML sees it.
fn parse<'a>(name: &str, page: &'a str) -> Document<'a> {
    let text = page.strip_prefix("<!DOCTYPE html>\n").expect("a doctype");
    Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn elements<'a, 'i>(document: &'a Document<'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    document.descendants().filter(Node::is_element)
}

#[test]
fn every_page_is_well_formed() {
    for (name, run) in fixtures::all() {
        let page = html::report(&run);
        let document = parse(name, &page);
        assert_eq!(document.root_element().tag_name().name(), "html", "{name}");
    }
}

/// The script of a page: the only one that may be in it.
const OWN_SCRIPT: &str = include_str!("../../src/html/report.js");

/// How many scripts a page has, and how many its policy lets run.
fn scripts(page: &str) -> (usize, usize) {
    (page.matches("<script").count(), page.matches("script-src 'sha256-").count())
}

#[test]
fn nothing_is_fetched_or_run_but_the_one_script() {
    for (name, run) in fixtures::all() {
        let page = html::report(&run);
        let document = parse(name, &page);
        for element in elements(&document) {
            let tag = element.tag_name().name();
            assert!(!matches!(tag, "img" | "iframe" | "object" | "embed"), "{name}: {tag}");
            // One script, whose hash is the only one that the policy lets run.
            assert!(tag != "script" || element.text() == Some(OWN_SCRIPT), "{name}");
            for attribute in element.attributes() {
                let (key, value) = (attribute.name(), attribute.value());
                assert!(!key.starts_with("on"), "{name}: {tag} {key}");
                let loads = matches!(key, "src" | "href" | "srcset" | "data" | "action" | "poster");
                // A link leads to a section of the same page.
                let is_own = value == "data:," || (tag == "a" && value.starts_with('#'));
                assert!(!loads || is_own, "{name}: {tag} {key}={value}");
            }
        }
        let style = elements(&document).find(|e| e.has_tag_name("style")).expect("a style sheet");
        let rules = style.text().expect("rules");
        for load in ["url(", "@import", "http:", "https:"] {
            assert!(!rules.contains(load), "{name}: {load} in the style sheet");
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let page = html::report(&fixtures::hostile());
    let document = parse("hostile", &page);
    // The text is all there, and none of it became an element.
    let text: String =
        document.descendants().filter(Node::is_text).filter_map(|n| n.text()).collect();
    assert!(text.matches("<script>alert(1)</script>").count() > 20);
    assert!(scripts(&page) == (1, 1) && !page.contains("<img"));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}') && !page.contains('\0'));
}

#[test]
fn no_coordinate_is_anything_but_a_number() {
    for (name, run) in fixtures::all() {
        for chart in CHARTS {
            let Some(drawing) = (chart.draw)(&run) else { continue };
            let document = Document::parse(&drawing)
                .unwrap_or_else(|error| panic!("{name} {}: {error}", chart.name));
            for element in elements(&document) {
                for attribute in element.attributes() {
                    let value = attribute.value();
                    match attribute.name() {
                        "x" | "y" | "x1" | "x2" | "y1" | "y2" | "width" | "height" => {
                            let number: f64 =
                                value.trim_end_matches('%').parse().unwrap_or(f64::NAN);
                            assert!(number.is_finite(), "{name} {}: {value}", chart.name);
                        }
                        "d" => assert!(
                            value.chars().all(|c| matches!(
                                c,
                                'M' | 'L' | 'Z' | ' ' | '.' | '-' | '0'..='9'
                            )),
                            "{name} {}: {value}",
                            chart.name
                        ),
                        _ => {}
                    }
                }
            }
        }
    }
}

#[test]
fn drawings_and_tables_can_be_read_aloud() {
    let page = html::report(&fixtures::open());
    let document = parse("open", &page);
    let mut ids: Vec<&str> = elements(&document).filter_map(|e| e.attribute("id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id is used twice");
    let is_named = |e: &Node<'_, '_>| e.attribute("class").is_some_and(|name| name != "moment");
    let outer = |e: &Node<'_, '_>| e.has_tag_name("svg") && is_named(e);
    for svg in elements(&document).filter(outer) {
        assert_eq!(svg.attribute("role"), Some("img"));
        for expected in ["title", "desc"] {
            let found = svg.children().find(|child| child.has_tag_name(expected));
            assert!(found.and_then(|child| child.text()).is_some(), "a drawing without {expected}");
        }
    }
    for table in elements(&document).filter(|e| e.has_tag_name("table")) {
        assert!(table.descendants().any(|e| e.has_tag_name("caption")));
        for head in table.descendants().filter(|e| e.has_tag_name("th")) {
            assert!(matches!(head.attribute("scope"), Some("col" | "row")));
        }
    }
}

#[test]
fn transactions_can_be_opened_one_by_one_without_a_script() {
    let page = html::report(&fixtures::closed());
    let document = parse("closed", &page);
    let opened: Vec<_> = elements(&document)
        .filter(|e| e.has_tag_name("details") && e.attribute("class") == Some("tx"))
        .collect();
    assert_eq!(
        opened.len(),
        38,
        "the twenty-five slowest, and of those at random their shares of as many"
    );
    for details in &opened {
        assert_eq!(details.attribute("open"), None);
        let drawn = details.descendants().find(|e| e.attribute("class") == Some("timeline"));
        let drawn = drawn.expect("a timeline");
        let whole: f64 = drawn.attribute("data-us").expect("a width").parse().expect("a number");
        assert!(whole > 0.0);
        for rect in drawn.descendants().filter(|e| e.has_tag_name("rect")) {
            let side = |name| rect.attribute(name).unwrap_or("0%").trim_end_matches('%').to_owned();
            let [x, width] =
                ["x", "width"].map(|name| side(name).parse::<f64>().expect("a number"));
            assert!(x >= 0.0 && width > 0.0 && x + width <= 100.001, "{x} {width}");
        }
    }
    let text: String = opened[0].descendants().filter_map(|n| n.text()).collect();
    for expected in ["client", "wire", "server", "waited for", "row lock", "connection #9", "4711"]
    {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
}

#[test]
fn the_sections_are_listed_behind_the_answer() {
    for (name, run) in fixtures::all() {
        let page = html::report(&run);
        let document = parse(name, &page);
        let headings = elements(&document).filter(|e| e.has_tag_name("h2"));
        let anchor = |e: Node<'_, '_>| e.attribute("id").map(|id| format!("#{id}"));
        let anchors: Vec<_> = headings.map(|e| (anchor(e), e.text())).collect();
        let links = elements(&document).filter(|e| e.has_tag_name("a"));
        let links = links.map(|e| (e.attribute("href").map(str::to_owned), e.text()));
        assert_eq!(links.collect::<Vec<_>>(), anchors, "{name}");
        assert!(anchors.len() > 3, "{name}: {anchors:?}");
        let at = |text: &str| page.find(text).expect(text);
        assert!(at("class=\"answer\"") < at("<nav ") && at("<nav ") < at("<h2 "), "{name}");
    }
}

#[test]
fn a_page_stays_small_however_much_was_traced() {
    let mut run = fixtures::closed();
    for row in &mut run.transactions {
        row.statements = row.statements.iter().cycle().take(40).cloned().collect();
    }
    run.transactions = run.transactions.iter().cycle().take(600).cloned().collect();
    let page = html::report(&run);
    assert!(page.len() < 700_000, "{}", page.len());
    let drawn = page.matches("class=\"timeline\"").count();
    let left_out = page.matches("Not drawn, for the size of the page").count();
    assert!(drawn > 1 && left_out > 1, "{drawn} {left_out}");
    assert_eq!(drawn + left_out, page.matches("<details class=\"tx\">").count());
}

/// A list of a thousand of these, over and over.
fn thousand<T: Clone>(rows: &[T]) -> Vec<T> {
    rows.iter().cycle().take(1000).cloned().collect()
}

/// A run in whose record each list is far longer than a page has room for.
fn run_of_thousands() -> Run {
    let mut run = fixtures::closed();
    let of_open = fixtures::open().record;
    let record = &mut run.record;
    record.lock_chains = record.lock_chains.as_deref().map(thousand);
    for chain in record.lock_chains.iter_mut().flatten() {
        let statement = "UPDATE account SET balance = balance + ? WHERE id = ?".to_owned();
        chain.statements = vec![statement; 9];
    }
    record.cpu_holders = record.cpu_holders.as_deref().map(|rows| thousand(&rows[..5]));
    record.file_waits = record.file_waits.as_deref().map(|rows| thousand(&rows[..3]));
    record.lock_holders = thousand(&of_open.lock_holders);
    record.files = thousand(&of_open.files);
    record.statements = thousand(&record.statements);
    run.transactions = thousand(&run.transactions);
    for row in &mut run.transactions {
        row.statements = row.statements.iter().cycle().take(40).cloned().collect();
    }
    run
}

#[test]
fn a_page_stays_small_whatever_a_record_holds() {
    let page = html::report(&run_of_thousands());
    assert!(page.len() < 700_000, "{}", page.len());
    let caption = "Waiting for locks, by what their holders did meanwhile";
    let (_, chains) = page.split_once(caption).expect("a table");
    let (chains, rest) = chains.split_once("950 further chains in run.json, ").expect("the rest");
    // The first line of each chain has how long was waited.
    let heads = chains.matches("<th scope=\"row\" class=\"n\">");
    let empty = chains.matches("<th scope=\"row\" class=\"n\"></th>");
    assert_eq!(heads.count() - empty.count(), 50);
    assert!(rest.starts_with(|sign: char| sign.is_ascii_digit()));
    assert!(page.contains("950 further rows, left out for the size of the page"));
}

/// What is no holder has its footnote below the table, and is no click away.
#[test]
fn what_is_not_named_is_in_view_behind_many_holders() {
    let mut run = fixtures::closed();
    let rows = run.record.cpu_holders.as_mut().expect("holders");
    let nameless = rows.pop().expect("a row");
    *rows = rows.iter().cycle().take(50).cloned().collect();
    rows.push(nameless);
    let page = html::report(&run);
    let (_, section) = page.split_once("Waiting for a CPU, by who had it").expect("a table");
    let (shown, folded) = section.split_once("<summary>30 more rows</summary>").expect("a fold");
    let folded = folded.split_once("</details>").expect("its end").0;
    assert!(shown.contains("not named</th>"), "{shown}");
    assert!(!folded.contains("not named"), "{folded}");
}

#[test]
fn a_step_of_the_advice_has_one_mark() {
    let page = html::report(&fixtures::open());
    let document = parse("open", &page);
    let name = elements(&document).find(|e| e.has_tag_name("dt") && e.text() == Some("log sync"));
    let advice = name.and_then(|name| name.next_sibling_element()).expect("a piece of advice");
    let lines: Vec<_> = advice.descendants().filter_map(|e| e.text()).collect();
    let marks = |line: &str| line.matches(['→', '•']).count();
    let steps: Vec<_> = lines.iter().filter(|line| line.starts_with("→ ")).collect();
    assert!(steps.len() > 1 && steps.iter().all(|step| marks(step) == 1), "{lines:?}");
}

#[test]
fn a_page_without_transactions_has_no_script() {
    let mut run = fixtures::open();
    assert_eq!(scripts(&html::report(&run)), (1, 1));
    run.transactions.clear();
    assert_eq!(scripts(&html::report(&run)), (0, 0));
}

#[test]
fn what_the_server_did_stands_under_the_responses() {
    let heat = CHARTS.iter().find(|chart| chart.name == "heat-map").expect("a heat map");
    let with = (heat.draw)(&fixtures::closed()).expect("responses");
    for expected in ["Innodb_checkpoint_age: checkpoint age", "server CPU", "2,411/s"] {
        assert!(with.contains(expected), "no {expected}");
    }
    let without = (heat.draw)(&fixtures::open()).expect("responses");
    assert!(!without.contains("strip-name"));
}

#[test]
fn every_chart_is_drawn_from_a_full_run_and_none_from_an_empty_one() {
    let (full, empty) = (fixtures::open(), Run::default());
    for chart in CHARTS {
        let drawing = (chart.draw)(&full).expect(chart.name);
        assert_eq!(chart.is_wide, !drawing.starts_with("<svg"), "{}", chart.name);
        assert_eq!((chart.draw)(&empty), None, "{}", chart.name);
    }
    let one = fixtures::one_second();
    for chart in CHARTS {
        assert!((chart.draw)(&one).is_some(), "{} of one second", chart.name);
    }
}

#[test]
fn the_page_says_what_the_terminal_says() {
    let page = html::report(&fixtures::client_limited());
    for expected in [
        "NOT VALID",
        "client-limited",
        "sync",
        "blocked in fsync",
        "parts measured on 1 of 16 transactions (15,423 of 246,780",
        "offered 246,780 = completed 246,765 + failed 3 + dropped 0 + unfinished 12",
        "service, queue and lag: of the 246,768 that ended",
        "not measured: wire, server_queue, throttled, stopped, net, sleep",
        "Time per op (nsec)",
        "Required 90th",
        "withdraw: commit",
        "dbtime run atm --target sqlite:/tmp/atm.db",
    ] {
        assert!(page.contains(expected), "no {expected}");
    }
    let closed = html::report(&fixtures::closed());
    assert!(closed.contains("closed loop: measured from the instant the client was ready"));
}

/// A sweep of every fixture over hostile factors.
fn sweep_of_all() -> RecordedStudy {
    let run = |(index, (name, run)): (usize, (&'static str, Run))| {
        let factor = |name: &str, value: String| FactorValue { name: name.to_owned(), value };
        let hostile = "</title><script>alert(1)</script>\u{1b}[2J";
        let factors = vec![
            factor("connections", (index / 2).to_string()),
            factor(hostile, if index % 2 == 0 { hostile.to_owned() } else { name.to_owned() }),
        ];
        (factors, run.record)
    };
    let runs: Vec<_> = fixtures::all().into_iter().enumerate().map(run).collect();
    let mut sweep = fixtures::sweep::sweep(1, runs);
    // Most of it was not made.
    let last = sweep.plan.cells.len() - 1;
    sweep.plan.cells.resize(99, sweep.plan.cells[last].clone());
    let hostile = "<b>\u{1b}".to_owned();
    let mut gone = sweep.history.runs[0].clone();
    (gone.trial.folder, gone.outcome) = (hostile.clone(), Some(TrialOutcome::Invalid));
    let mut failed = gone.clone();
    (failed.outcome, failed.reason) = (Some(TrialOutcome::Failed), Some(hostile));
    sweep.history.runs.extend([gone, failed]);
    sweep.records.extend([None, None]);
    sweep
}

#[test]
fn pages_of_sweeps_and_comparisons_are_well_formed_and_take_any_text() {
    let sweep = sweep_of_all();
    let compared = SweepComparison::of([("<a>", &sweep), ("b\u{202e}", &sweep)]);
    let mut pages = vec![html::sweep_report(&sweep), sweeps_document(&compared).html()];
    pages.push(html::sweep_report(&fixtures::sweep::sweep(1, Vec::new())));
    for (_, a) in fixtures::all() {
        let b = fixtures::hostile();
        let compared = RunComparison::of([("a", &a.record), ("<b>", &b.record)]);
        pages.push(runs_document(&compared).html());
    }
    for page in &pages {
        let document = parse("page", page);
        assert_eq!(document.root_element().tag_name().name(), "html");
        assert!(!page.contains("<script") && !page.contains('\u{1b}') && !page.contains("NaN"));
        assert!(!page.contains('\u{202e}'));
    }
    // A run that is valid says nothing of it.
    assert!(!pages[1].contains("<span class=\"bad\"></span>"));
    for expected in ["sweep-throughput-title", "sweep-mean-title", "sweep-p99-title", "13 of 99"] {
        assert!(pages[0].contains(expected), "no {expected}");
    }
    assert!(!pages[2].contains("<svg"));
}

#[test]
fn a_sweep_of_several_combinations_has_the_sections_of_a_study() {
    let run = |at: u32| {
        let value = (1 + at % 2).to_string();
        let mut record = fixtures::open().record;
        record.throughput_tps *= 1.0 + 0.01 * f64::from(at);
        (vec![FactorValue { name: "workers".to_owned(), value }], record)
    };
    let page = |rounds: u32, runs: &[u32]| {
        let runs = runs.iter().copied().map(run).collect();
        html::sweep_report(&fixtures::sweep::sweep(rounds, runs))
    };
    let [once, repeated] = [page(1, &[0, 1]), page(3, &[0, 1, 2, 3, 4, 5])];
    for page in [&once, &repeated] {
        parse("page", page);
        assert!(page.contains("sweep-throughput-title") && !page.contains("NaN"));
        assert!(page.contains("Changes against the baseline"));
        let places = ["<dt>verdict</dt>", "sweep-throughput-title", "Changes against the baseline"]
            .map(|part| page.find(part).unwrap_or_else(|| panic!("no {part}")));
        assert!(places.is_sorted(), "the answer, what was swept, and what is behind: {places:?}");
        assert!(page.contains("<a href=\"001/report.html\">001</a>"), "a run has a page");
        let bars = "Where the time of a transaction goes";
        assert!(page.contains(bars) && page.contains("Budget with 2: mean"), "{bars}");
    }
    // Of one combination there is nothing to compare.
    assert!(!page(2, &[0, 2]).contains("Changes against the baseline"));
}

#[test]
fn a_sweep_says_which_passwords_its_command_leaves_out() {
    let command = "dbtime run --server-env=APP_PASSWORD=\"$APP_PASSWORD\" --sweep workers=1,2";
    let mut sweep = fixtures::sweep::sweep(1, Vec::new());
    sweep.plan.surroundings.command = command.to_owned();
    assert!(html::sweep_report(&sweep).contains("set APP_PASSWORD before"));
    sweep.plan.surroundings.command = "dbtime run --sweep workers=1,2".to_owned();
    assert!(!html::sweep_report(&sweep).contains("left out"));
    // Of a file of the environment only the target of the runs tells.
    let mut run = fixtures::open().record;
    run.target.url = "mysql://u:***@h/d".to_owned();
    let command = sweep.plan.surroundings.command;
    let mut sweep = fixtures::sweep::sweep(1, vec![(Vec::new(), run)]);
    sweep.plan.surroundings.command = command;
    assert!(html::sweep_report(&sweep).contains("supply it by MYSQL_PWD"));
}
