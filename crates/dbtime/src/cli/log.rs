//! Flags of `dbtime log`.

use super::number::whole;
use super::time_bound::time_bound;
use super::{DETAILS, DocumentArgs};
use clap::Args;
use dbtime_model::log_digest::{ClassGrouping, InputKind};
use dbtime_observe::logs::{RouteNamer, TimeBound};
use dbtime_report::log::ClassOrder;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  dbtime log slow.log
      the statements that took most of the time, on one screen
  dbtime log slow.log --details --html slow.html
      with percentiles, parts, samples and what ran beside the slow ones, as a page
  dbtime log postgresql.log --prefix '%m [%p] %q%u@%d '
  dbtime log access.log access.log.1.gz --route '/item/=item'
      several files, in the order of the times in them; all requests below /item/ as one class
  dbtime log slow.log --since 1h --order-by p99
  dbtime log slow.log --since-last slow.state --json
      only what was added since the last run, for cron
  dbtime log slow.log --format percona
      classes, IDs and figures as pt-query-digest has them
  dbtime log monday.log --json > monday.json
  dbtime compare monday.json tuesday.json
      what changed between two digests";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogArgs {
    /// Logs, plain or packed by gzip; `-` for standard input. They are read in the order of the
    /// times in them.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Format of the files: slow, general, postgres, postgres_csv, postgres_json, access or
    /// json_lines [default: what their beginning shows].
    #[arg(long, value_name = "FORMAT", value_parser = input_kind,
          conflicts_with_all = ["access_format", "prefix", "json_fields"])]
    pub(crate) read_as: Option<InputKind>,

    /// Format string of an access log, as Apache's LogFormat or nginx's log_format has it, or the
    /// name of one: common, combined, vhost_combined, rscommon, nginx, nginx_timed,
    /// nginx_request_time, nginx_ingress, traefik or alb.
    #[arg(long, value_name = "STRING", allow_hyphen_values = true,
          conflicts_with_all = ["prefix", "json_fields"])]
    pub(crate) access_format: Option<String>,

    /// log_line_prefix of PostgreSQL's log, as `SHOW log_line_prefix` prints it.
    #[arg(long, value_name = "STRING", allow_hyphen_values = true, conflicts_with = "json_fields")]
    pub(crate) prefix: Option<String>,

    /// Keys of JSON lines: time=ts,duration=took:ms,path=request.uri. Fields are time (at the end),
    /// start, duration (in s; :ms, :us and :ns are other units), method, path, request (`GET /a`),
    /// status, user, host and session [default: keys of common web servers and libraries].
    #[arg(long, value_name = "FIELD=KEY,...")]
    pub(crate) json_fields: Option<String>,

    /// Put requests whose method and path, such as `GET /item/7`, match a regular expression into
    /// one class of this name. Repeatable; the first match counts.
    #[arg(long, value_name = "REGEX=NAME", value_parser = route)]
    pub(crate) route: Vec<(String, String)>,

    /// Leave out records that ended before TIME: a date, with or without a time of day (without a
    /// zone it is UTC, or the time in a log that names no zone), or a duration back from now, such
    /// as 1h or 7d.
    #[arg(long, value_name = "TIME", value_parser = time_bound)]
    pub(crate) since: Option<TimeBound>,

    /// Leave out records that ended at TIME or later.
    #[arg(long, value_name = "TIME", value_parser = time_bound)]
    pub(crate) until: Option<TimeBound>,

    /// Read only what was added since the last run with this file, which keeps how far the logs
    /// were read; rotated logs are followed.
    #[arg(long, value_name = "STATE")]
    pub(crate) since_last: Option<PathBuf>,

    /// Share of the statements that the server logged, such as 10%, where the log does not show it:
    /// counts and totals are then estimates for all statements.
    #[arg(long, value_name = "SHARE", value_parser = sample_rate)]
    pub(crate) sample_rate: Option<f64>,

    /// What the records of a class share: fingerprint, percona (the fingerprint of Percona
    /// Toolkit), percona-3.2 (of its versions up to 3.2.1), user, host, database or session (the
    /// process of a web server whose log has it) [default: fingerprint].
    #[arg(long, value_name = "WHAT", value_parser = grouping)]
    pub(crate) group_by: Option<ClassGrouping>,

    /// Figure by which classes are ordered, largest first: total, count, mean, p99, max or errors.
    #[arg(long, value_name = "FIGURE", default_value = "total", value_parser = order)]
    pub(crate) order_by: ClassOrder,

    /// Number of classes shown.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = limit)]
    pub(crate) limit: usize,

    /// Keep the literals of the samples in --details, --html and --json; passwords are removed all
    /// the same.
    #[arg(long)]
    pub(crate) raw_sql: bool,

    /// List the lines that could not be read, by kind, with the byte at which the first begins.
    #[arg(long)]
    pub(crate) show_bad: bool,

    /// Number of threads that read [default: one for each CPU, at most 8].
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=64, 4))]
    pub(crate) threads: Option<usize>,

    #[arg(long, help = DETAILS, conflicts_with = "json")]
    pub(crate) details: bool,

    /// Print the report of another tool: percona (pt-query-digest), with its classes and figures.
    #[arg(long, value_name = "TOOL", value_parser = report_shape,
          conflicts_with_all = ["json", "html", "markdown", "details", "show_bad", "order_by"])]
    pub(crate) format: Option<ReportShape>,

    #[command(flatten)]
    pub(crate) document: DocumentArgs,

    /// Print one JSON document and nothing else.
    #[arg(long)]
    pub(crate) json: bool,

    /// Also write a row for each class to a Parquet file.
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
}

/// The reports of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportShape {
    /// pt-query-digest.
    Percona,
}

fn report_shape(text: &str) -> Result<ReportShape, String> {
    match text {
        "percona" => Ok(ReportShape::Percona),
        "json" => Err("JSON is printed by --json".to_owned()),
        _ => {
            Err("write percona; other forms are --json, --html FILE and --markdown, and --read-as \
                  names the format of a log"
                .to_owned())
        }
    }
}

/// A number of classes.
fn limit(text: &str) -> Result<usize, String> {
    let of_percona = text.split_once("%:").map(|(_, most)| most);
    match of_percona.filter(|most| most.parse::<usize>().is_ok()) {
        Some(most) => Err(format!("it takes a number of classes, without a share: {most}")),
        None => whole::<usize>(1.., 20)(text),
    }
}

fn input_kind(text: &str) -> Result<InputKind, String> {
    let known = || format!("write one of {}", InputKind::ALL.map(InputKind::name).join(", "));
    InputKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(known)
}

fn grouping(text: &str) -> Result<ClassGrouping, String> {
    let known =
        || format!("write one of {}", ClassGrouping::ALL.map(ClassGrouping::name).join(", "));
    ClassGrouping::ALL.into_iter().find(|grouping| grouping.name() == text).ok_or_else(known)
}

/// What pt-query-digest orders by, and what that is here.
const FOREIGN_ORDERS: [(&str, ClassOrder); 4] = [
    ("Query_time:sum", ClassOrder::Total),
    ("Query_time:cnt", ClassOrder::Count),
    ("Query_time:max", ClassOrder::Max),
    ("Query_time:avg", ClassOrder::Mean),
];

fn order(text: &str) -> Result<ClassOrder, String> {
    if let Some((_, order)) = FOREIGN_ORDERS.iter().find(|(foreign, _)| *foreign == text) {
        return Err(format!("that is {} here", order.name()));
    }
    let known = || format!("write one of {}", ClassOrder::ALL.map(ClassOrder::name).join(", "));
    ClassOrder::ALL.into_iter().find(|order| order.name() == text).ok_or_else(known)
}

fn route(text: &str) -> Result<(String, String), String> {
    RouteNamer::parse_route(text).map_err(|error| error.to_string())
}

/// A share of all, without or with the sign.
fn sample_rate(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 0.01),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(share) if share > 0.0 && share * scale <= 1.0 => Ok(share * scale),
        _ => Err("not a share above 0 and up to 1, such as 0.1 or 10%".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_observe::logs::AccessFormat;

    #[test]
    fn every_format_with_a_name_is_in_the_help() {
        let help = crate::cli::parse(["dbtime", "log", "--help"]).expect_err("a help").to_string();
        let is_end = |sign: char| sign.is_whitespace() || matches!(sign, ',' | '.');
        for name in AccessFormat::preset_names() {
            assert!(help.split(is_end).any(|word| word == name), "{name} is not in {help}");
        }
    }

    #[test]
    fn shares_are_above_nothing_and_up_to_all() {
        assert_eq!(sample_rate("0.1"), Ok(0.1));
        assert_eq!(sample_rate("50%"), Ok(0.5));
        assert_eq!(sample_rate("1"), Ok(1.0));
        for bad in ["0", "1.1", "200%", "-0.5", "NaN", "some"] {
            assert!(sample_rate(bad).is_err(), "{bad} was taken");
        }
    }

    #[test]
    fn words_that_are_no_value_are_answered_with_those_that_are() {
        for (error, known) in [
            (input_kind("mysql").err(), "slow, general, postgres"),
            (grouping("table").err(), "percona-3.2, user"),
            (order("rows").err(), "total, count, mean, p99, max, errors"),
            (order("Query_time:sum").err(), "that is total here"),
            (report_shape("json").err(), "--json"),
            (report_shape("stderr").err(), "--read-as"),
            (limit("95%:20").err(), "a number of classes, without a share: 20"),
            (limit("95%").err(), "such as 20"),
        ] {
            let error = error.expect("no value");
            assert!(error.contains(known), "{error}");
        }
        assert_eq!(input_kind("json_lines"), Ok(InputKind::JsonLines));
        assert_eq!(grouping("percona-3.2"), Ok(ClassGrouping::PerconaOld));
        assert_eq!(order("p99"), Ok(ClassOrder::P99));
    }
}
