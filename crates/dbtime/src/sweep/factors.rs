//! What is swept: the same run over values of other flags.
//!
//! A sweep is text: `workers=40,10,4` is a factor; factors separated by spaces cross; groups
//! separated by `;` follow each other; several `--sweep` flags cross their groups.

use crate::cli::run_flags;
use crate::exit::CommandFailure;
use crate::secrets::{in_complaint, is_torn, shown};
use dbtime_model::secret_text::MASK;

/// One combination: flag names and their values.
pub(super) type FactorCombination = Vec<(String, String)>;

/// Flags that a single run of it does not have.
const OF_SWEEP: [&str; 4] = ["--sweep", "--repeat", "--find-rate", "--out"];

/// All combinations, in the order they are run.
pub(super) fn combinations(sweeps: &[String]) -> Result<Vec<FactorCombination>, CommandFailure> {
    let mut all: Vec<FactorCombination> = vec![Vec::new()];
    for sweep in sweeps {
        let mut groups = Vec::new();
        // What stands behind a secret may be the rest of it.
        let holds_secret = shown("sweep", sweep) != *sweep;
        for group in sweep.split(';') {
            groups.extend(cross_group(group, holds_secret)?);
        }
        all = cross(&all, &groups);
    }
    Ok(all)
}

/// The names of all factors, in the order in which they first appear.
pub(super) fn names(combinations: &[FactorCombination]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in combinations.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
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
                let why = format!("`dbtime run` has no flag --{}", quoted(name));
                return Err(refusal(&quoted(name), &why));
            }
        }
        if is_torn(name, values) {
            return Err(CommandFailure::usage(format!(
                "a value of `{name}` is a secret that a comma may have cut in two, as commas stand \
                 between the values of a sweep: set the secrets in dbtime's own environment, and \
                 sweep their names, such as server-env=NAME,OTHER"
            )));
        }
        let values = values.split(',').map(|value| vec![(name.to_owned(), value.to_owned())]);
        combinations = cross(&combinations, &values.collect::<Vec<_>>());
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

/// The command line of one combination: the whole one without the sweep, and the values appended.
///
/// Errors: a switch that is neither on nor off.
pub(super) fn arguments(
    whole: &[String],
    combination: &FactorCombination,
) -> Result<Vec<String>, CommandFailure> {
    let mut arguments = Vec::new();
    let mut skip = false;
    for argument in whole {
        let is = |flag: &str| argument == flag;
        let starts = |flag: &str| argument.starts_with(flag);
        let is_of_sweep = |flag: &&str| starts(&format!("{flag}="));
        if std::mem::take(&mut skip) || OF_SWEEP.iter().any(is_of_sweep) {
            continue;
        }
        if OF_SWEEP.iter().any(|flag| is(flag)) {
            skip = true;
            continue;
        }
        arguments.push(argument.clone());
    }
    for (name, value) in combination {
        run_flags::add(&mut arguments, name, value).map_err(CommandFailure::usage)?;
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sweeps: &[&str]) -> Vec<String> {
        let sweeps: Vec<String> = sweeps.iter().map(|s| (*s).to_owned()).collect();
        let text = |c: &FactorCombination| {
            c.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" ")
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

    #[test]
    fn a_combination_replaces_the_sweep() {
        let whole =
            ["dbtime", "run", "--sweep", "workers=1,2", "--out=x", "--repeat=3", "--time", "1s"];
        let whole: Vec<String> = whole.iter().map(|s| (*s).to_owned()).collect();
        let one = vec![("workers".to_owned(), "2".to_owned())];
        let arguments = |one| arguments(&whole, one).expect("flags of a run");
        assert_eq!(arguments(&one), ["dbtime", "run", "--time", "1s", "--workers=2"]);
    }

    #[test]
    fn a_switch_can_be_swept() {
        let whole = ["dbtime", "run", "--pipeline"].map(str::to_owned);
        let sweep = ["pipeline=false,true no-budget=true".to_owned()];
        let combinations = combinations(&sweep).expect("a sweep");
        let lines: Vec<_> = combinations.iter().map(|one| arguments(&whole, one)).collect();
        let lines: Vec<_> = lines.into_iter().map(|line| line.expect("switches")).collect();
        assert_eq!(lines[0], ["dbtime", "run", "--no-budget"]);
        assert_eq!(lines[1], ["dbtime", "run", "--pipeline", "--no-budget"]);
        let wrong = vec![("no-budget".to_owned(), "16".to_owned())];
        let error = arguments(&whole, &wrong).expect_err("no switch").words();
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
            ("workload=atm,tpcb", "it names what all runs are of"),
            ("workres=1,2", "has no flag --workres"),
        ] {
            let error = combinations(&[sweep.to_owned()]).expect_err(sweep).words();
            assert!(error.contains(why) && error.contains("workers=40,10,4"), "{error}");
            assert!(error.lines().count() == 1 && !error.contains("Usage"), "{error}");
        }
    }
}
