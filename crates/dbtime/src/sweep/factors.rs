//! What is swept: the same run over values of other flags.
//!
//! A sweep is text: `workers=40,10,4` is a factor; factors separated by spaces cross; groups
//! separated by `;` follow each other; several `--sweep` flags cross their groups.

use crate::cli::run_flags;
use crate::exit::CommandFailure;
use crate::secrets::{in_complaint, is_torn, shown};
use dbtime_model::secret_text::MASK;
use dbtime_model::spec::FlagSetting;
use std::collections::{BTreeMap, BTreeSet};

/// Why such a statement cannot be swept, and how statements are compared.
const CUT_STATEMENT: &str = "--sweep would split a statement of `query` at its blanks and commas, \
                             which separate factors and values: list statements as levels of a \
                             study, under [factors] of its file: \
                             query = [\"SELECT 1\", \"SELECT 2\"]";

/// One combination: a value of each factor.
pub(super) type FactorCombination = Vec<FlagSetting>;

/// All combinations, in the order they are run.
pub(super) fn combinations(sweeps: &[String]) -> Result<Vec<FactorCombination>, CommandFailure> {
    let mut all: Vec<FactorCombination> = vec![Vec::new()];
    for sweep in sweeps {
        let mut groups = Vec::new();
        // What stands behind a secret may be the rest of it.
        let holds_secret = shown("sweep", sweep) != *sweep;
        for group in sweep.split(';') {
            if cuts_statement(group) {
                return Err(CommandFailure::usage(CUT_STATEMENT));
            }
            groups.extend(cross_group(group, holds_secret)?);
        }
        all = cross(&all, &groups);
    }
    write_alike(&mut all);
    check_once(&all)?;
    Ok(all)
}

/// Writes a value that is there in several notations as it was written first: tables and charts go
/// by the text.
fn write_alike(combinations: &mut [FactorCombination]) {
    let mut written = BTreeMap::new();
    for setting in combinations.iter_mut().flatten() {
        let meant = (setting.name.clone(), setting.meaning());
        let first = written.entry(meant).or_insert_with(|| setting.value.clone());
        setting.value.clone_from(first);
    }
}

/// Refuses a combination that has two values of a flag that takes one, and one that is there twice.
fn check_once(combinations: &[FactorCombination]) -> Result<(), CommandFailure> {
    let mut known = BTreeSet::new();
    for combination in combinations {
        let mut pairs: Vec<(&str, &str)> =
            combination.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
        // In which order flags are given says nothing, but of values of the same one.
        pairs.sort_by_key(|(name, _)| *name);
        let mut names = pairs.windows(2).map(|two| [two[0].0, two[1].0]);
        let is_one = |[name, next]: &[&str; 2]| name == next && !run_flags::is_repeatable(name);
        if let Some([name, _]) = names.find(is_one) {
            return Err(CommandFailure::usage(format!(
                "--sweep crosses `{name}` with itself, and a run has one value of it: list all \
                 values after one `{name}=`"
            )));
        }
        let words: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{name}={}", shown(name, value))).collect();
        if !known.insert(pairs) {
            return Err(CommandFailure::usage(format!(
                "--sweep lists {} twice: leave one out, or make each run several times with \
                 --repeat",
                words.join(" ")
            )));
        }
    }
    Ok(())
}

/// Whether a statement is among the values, and blanks or commas of its own were taken for those of
/// the sweep.
fn cuts_statement(group: &str) -> bool {
    let mut words = group.split_whitespace().map(|word| word.trim_start_matches("--"));
    let Some(values) = words.find_map(|word| word.strip_prefix("query=")) else { return false };
    let is_whole = |value: &str| {
        let count = |sign: char| value.matches(sign).count();
        count('(') == count(')') && count('\'').is_multiple_of(2)
    };
    let is_factor =
        |word: &str| word.split_once('=').is_some_and(|(name, _)| run_flags::find(name).is_some());
    !values.split(',').all(is_whole) || !words.all(is_factor)
}

fn cross_group(group: &str, holds_secret: bool) -> Result<Vec<FactorCombination>, CommandFailure> {
    let mut combinations: Vec<FactorCombination> = vec![Vec::new()];
    for factor in group.split_whitespace() {
        let (name, values) = factor.split_once('=').unwrap_or((factor, ""));
        let name = name.trim_start_matches("--");
        let quoted = |text: &str| if holds_secret { MASK.to_owned() } else { in_complaint(text) };
        if name.is_empty() || values.is_empty() {
            return Err(refusal(&quoted(factor), "it has no values"));
        }
        match run_flags::find(name) {
            Some(flag) if flag.can_vary() => {}
            Some(flag) => return Err(refusal(&quoted(factor), flag.class.why_fixed())),
            None => {
                let unknown = || format!("`dbtime run` has no flag --{}", quoted(name));
                let led_to = run_flags::led_to("dbtime run", &format!("--{name}"), None);
                let why = led_to.unwrap_or_else(unknown);
                return Err(refusal(&quoted(name), &why));
            }
        }
        if is_torn(name, values) {
            return Err(CommandFailure::usage(format!(
                "a value of `{name}` is a secret that a comma may have split, as commas separate \
                 the values of a sweep: set the secrets in dbtime's own environment, and sweep \
                 their names, such as server-env=NAME,OTHER"
            )));
        }
        let values = values.split(',').map(|value| run_flags::setting(name, value));
        let values = values.map(|setting| setting.map(|setting| vec![setting]));
        let values = values.collect::<Result<Vec<_>, _>>().map_err(CommandFailure::usage)?;
        combinations = cross(&combinations, &values);
    }
    if combinations.iter().all(Vec::is_empty) {
        return Err(CommandFailure::usage("--sweep has an empty group: write workers=40,10,4"));
    }
    Ok(combinations)
}

fn refusal(factor: &str, why: &str) -> CommandFailure {
    CommandFailure::usage(format!(
        "`{factor}` cannot be swept: {why}; write a flag of a run and its values, such as \
         workers=40,10,4"
    ))
}

fn cross(left: &[FactorCombination], right: &[FactorCombination]) -> Vec<FactorCombination> {
    let joined =
        |a: &FactorCombination, b: &FactorCombination| a.iter().chain(b).cloned().collect();
    left.iter().flat_map(|a| right.iter().map(move |b| joined(a, b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sweeps: &[&str]) -> Vec<String> {
        let sweeps: Vec<String> = sweeps.iter().map(|s| (*s).to_owned()).collect();
        let text = |c: &FactorCombination| {
            let pair = |FlagSetting { name, value }: &FlagSetting| format!("{name}={value}");
            c.iter().map(pair).collect::<Vec<_>>().join(" ")
        };
        combinations(&sweeps).expect("a sweep").iter().map(text).collect()
    }

    #[test]
    fn factors_cross_and_groups_follow() {
        assert_eq!(written(&["workers=4,2 scale=1,2"]).len(), 4);
        assert_eq!(
            written(&["arrivals=at-once workers=40,10; rate=5/s"]),
            ["arrivals=at-once workers=40", "arrivals=at-once workers=10", "rate=5/s"]
        );
        assert_eq!(written(&["workers=1,2", "scale=1,2"]).len(), 4);
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in
            ["workers", "=hush", "workers=", "", "out=x", "workers=1; ", "out=mysql://u:hush@h/d"]
        {
            let error = combinations(&[bad.to_owned()]).expect_err(bad);
            assert!(!error.words().contains("hush"), "{error:?}");
        }
        for torn in [
            "server-env=A_TOKEN=x,hush",
            "server-env=A_TOKEN=x;hush",
            "server-env=A_TOKEN=x hush",
            "script-set=token=x,hush=y",
            "target=mysql://u:x,hush@h/d",
        ] {
            let error = combinations(&[torn.to_owned()]).expect_err(torn);
            assert!(!error.words().contains("hush"), "{error:?}");
        }
        assert_eq!(written(&["server-env=A_TOKEN=x,A_TOKEN=y"]).len(), 2);
        assert_eq!(written(&["server-env=A,B_TOKEN"]).len(), 2);
    }

    /// Else a value would be ignored, or a run be made twice without a word.
    #[test]
    fn what_is_there_twice_is_refused() {
        for (sweeps, why) in [
            (&["workers=1,2 workers=3,4"][..], "crosses `workers` with itself"),
            (&["workers=1,2", "scale=1 workers=3"][..], "crosses `workers` with itself"),
            (&["workers=4,2,4"][..], "lists workers=4 twice"),
            (&["workers=4; workers=4,2"][..], "lists workers=4 twice"),
            (&["workers=4,04"][..], "lists workers=4 twice"),
            (&["rate=100,100.0"][..], "lists rate=100 twice"),
            (&["time=1s,1000ms"][..], "lists time=1s twice"),
            (&["target=sqlite,sqlite:"][..], "lists target=sqlite twice"),
            (&["limit=p90<=5ms,p90<=5000us"][..], "lists limit=p90<=5ms twice"),
            (&["workers=4 scale=1; scale=1 workers=4"][..], "lists scale=1 workers=4 twice"),
            (&["server-env=A_TOKEN=hush,A_TOKEN=hush"][..], "lists server-env=A_TOKEN=*** twice"),
        ] {
            let sweeps: Vec<String> = sweeps.iter().map(|sweep| (*sweep).to_owned()).collect();
            let error = combinations(&sweeps).expect_err(why).words();
            assert!(error.contains(why) && !error.contains("hush"), "{error}");
        }
        assert_eq!(written(&["server-set=a=1,a=2 server-set=b=1,b=2"]).len(), 4);
        let alike = ["workers=4 rate=1", "workers=4 rate=2"];
        assert_eq!(written(&["workers=4 rate=1; workers=04 rate=2"]), alike);
    }

    #[test]
    fn a_statement_that_would_be_cut_is_led_to_a_study() {
        for cut in [
            "query=SELECT 'hush'",
            "query=SELECT a,b FROM hush",
            "--query=VALUES(1,2)",
            "query=VALUES('a,hush')",
            "workers=1,2 query=SELECT 1",
        ] {
            let error = combinations(&[cut.to_owned()]).expect_err(cut).words();
            assert!(error.contains("[factors]") && !error.contains("hush"), "{error}");
        }
        assert_eq!(written(&["query=VALUES(1),VALUES(2) workers=1,2"]).len(), 4);
    }

    #[test]
    fn a_switch_can_be_swept() {
        let all = ["pipeline=false no-budget=true", "pipeline=true no-budget=true"];
        assert_eq!(written(&["pipeline=false,true no-budget=true"]), all);
        let error = combinations(&["no-budget=16".to_owned()]).expect_err("no switch").words();
        assert!(error.contains("write no-budget=true or no-budget=false"), "{error}");
    }

    /// What belongs to the whole command or to a process is no factor, whatever its name.
    #[test]
    fn what_is_no_flag_of_a_run_is_refused_by_its_class() {
        for (sweep, why) in [
            ("print-spec=x", "it is for all runs together"),
            ("find-rate=p99<=1ms", "it is for all runs together"),
            ("password-file=x,y", "it is for all runs together"),
            ("events=x", "it is for the process of a single run"),
            ("parent=1,2", "it is for the process of a single run"),
            ("workload=atm,tpcb", "it names the workload of all runs"),
            ("workres=1,2", "has no flag --workres"),
        ] {
            let error = combinations(&[sweep.to_owned()]).expect_err(sweep).words();
            assert!(error.contains(why) && error.contains("workers=40,10,4"), "{error}");
            assert!(error.lines().count() == 1 && !error.contains("Usage"), "{error}");
        }
    }
}
