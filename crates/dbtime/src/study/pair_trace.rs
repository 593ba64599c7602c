//! Whether both sides of `study ab` are traced though no flag has it so: where that is permitted,
//! the report then says by the server's own parts where the time went.

use crate::cli::StudyAbArgs;
use dbtime_lab::Target;
use dbtime_model::study::{StudyCell, StudyPlan};
use dbtime_observe::trace::missing_trace_rights;

/// The flags that say which parts of a run are measured: then nothing is added.
const OF_PARTS: [&str; 5] = ["trace", "stacks", "statements", "no-budget", "budget-every"];

/// What is to be traced of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PairTrace {
    /// What the flags say, or nothing: there is no server.
    AsGiven,
    /// Both sides.
    Added,
    /// Nothing, for it is not permitted; what is lacking, in words.
    Refused(String),
}

impl PairTrace {
    /// Of this command line and its plan.
    pub(crate) fn of(args: &StudyAbArgs, plan: &StudyPlan) -> Self {
        let is_given = OF_PARTS.iter().any(|name| args.run.0.has(name));
        if args.no_trace || is_given || plan.cells.iter().any(chooses_parts) {
            return Self::AsGiven;
        }
        match (plan.cells.iter().all(is_of_server), missing_trace_rights()) {
            (false, _) => Self::AsGiven,
            (true, Some(missing)) => Self::Refused(format!("tracing takes {missing}")),
            (true, None) => Self::Added,
        }
    }

    /// What there is to know of it, in a sentence; `None`: nothing.
    pub(crate) fn note(&self) -> Option<String> {
        match self {
            Self::AsGiven => None,
            Self::Added => Some(
                "both sides are traced, which slows both of them down alike (--no-trace leaves it \
                 out)"
                    .to_owned(),
            ),
            Self::Refused(why) => Some(format!(
                "not traced, so that the server's time stays one number (--no-trace leaves this \
                 note out): {why}"
            )),
        }
    }
}

/// Whether it differs from others in what is measured.
fn chooses_parts(cell: &StudyCell) -> bool {
    cell.factors.iter().any(|factor| OF_PARTS.contains(&factor.name.as_str()))
}

fn is_of_server(cell: &StudyCell) -> bool {
    let target = cell.spec.as_ref().and_then(|spec| spec.target.url.parse::<Target>().ok());
    target.is_some_and(|target| target.is_server())
}

#[cfg(test)]
mod tests {
    use super::super::pair::{PairChoices, draft};
    use super::*;
    use crate::cli::{self, CliCommand, StudyArgs, StudyCommand};

    fn of(flags: &str) -> PairTrace {
        let line = format!("dbtime study ab values1 --a connections=1 --b connections=2 {flags}");
        let args = match cli::parse(line.split_whitespace()).expect(flags).command {
            CliCommand::Study(StudyArgs { command: StudyCommand::Ab(args) }) => args,
            other => panic!("{line}: {other:?}"),
        };
        let plan = draft(&args, PairChoices::default()).expect(flags).plan(3);
        PairTrace::of(&args, &plan.expect(flags).plan)
    }

    #[test]
    fn a_server_is_traced_where_that_is_permitted_and_no_flag_has_it_otherwise() {
        let server = "--target mysql://u@127.0.0.1:1/d";
        let permitted = of(server);
        match missing_trace_rights() {
            None => assert_eq!(permitted, PairTrace::Added),
            Some(missing) => {
                assert!(matches!(&permitted, PairTrace::Refused(why) if why.ends_with(&missing)));
            }
        }
        assert!(permitted.note().is_some_and(|note| note.contains("--no-trace")));
        for other in ["--no-trace", "--trace", "--no-budget", "--budget-every 9", "--statements"] {
            assert_eq!(of(&format!("{server} {other}")), PairTrace::AsGiven, "{other}");
        }
        assert_eq!(of("--target null"), PairTrace::AsGiven);
        assert_eq!(PairTrace::AsGiven.note(), None);
    }
}
