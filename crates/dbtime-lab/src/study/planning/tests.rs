//! Tests of plans, with a grammar that takes every flag.

use super::*;

/// Has every flag; a run has those that can be set.
pub(super) struct AnyFlags;

impl RunGrammar for AnyFlags {
    fn cell_flag(&self, name: &str, value: &str) -> Result<FlagSetting, LabError> {
        Ok(FlagSetting::new(name, value))
    }

    fn base(&self, _: &str) -> Result<Box<dyn RunBase>, LabError> {
        Ok(Box::new(Self))
    }
}

impl RunBase for AnyFlags {
    fn planned(&self, flags: &[FlagSetting]) -> Result<PlannedRun, LabError> {
        let spec = RunSpec::default().with(flags).map_err(usage)?;
        Ok(PlannedRun::of_spec(spec, "dbtime run".to_owned(), Vec::new()))
    }
}

fn plan_of(text: &str) -> Result<StudyPlan, String> {
    let planned = plan_study(text, Path::new("s.toml"), PlanOverrides::default(), &AnyFlags);
    planned.map(|study| study.plan).map_err(|error| error.to_string())
}

#[test]
fn a_plan_has_a_control_and_names_what_cannot_be_run() {
    let plan = plan_of("run = \"x\"\n[factors]\nworkers = [8, 2]\n").expect("a plan");
    let cells = plan.cells.iter().map(|cell| (cell.name.as_str(), cell.role));
    let (baseline, control, candidate) =
        (CellRole::Baseline, CellRole::Control, CellRole::Candidate);
    assert!(cells.eq([
        ("workers=8", baseline),
        ("workers=8 again", control),
        ("workers=2", candidate)
    ]));
    assert_eq!((plan.name.as_str(), plan.primary.as_str()), ("s", "throughput"));
    let error = plan_of("run = \"x\"\n[factors]\nworkers = [8, 0]\n").expect_err("no workers");
    assert!(error.starts_with("workers=0: --workers: it takes a whole number"), "{error}");
    for levels in [
        "workers = [4, \"04\"]",
        "time = [\"1s\", \"1000ms\"]",
        "rate = [5, 5.0]",
        "target = [\"sqlite\", \"sqlite:\"]",
        "server-set = [\"a_b=1\", \"a-b=1\"]",
    ] {
        let error = plan_of(&format!("run = \"x\"\n[factors]\n{levels}\n"));
        let error = error.expect_err("one level");
        assert!(error.contains("make the same run") || error.contains("two conf"), "{error}");
    }
    let auto = "run = \"x\"\n[factors]\nrate = [\"auto\", \"5/s\"]\n";
    let error = plan_of(auto).expect_err("no known rate");
    assert!(error.starts_with("rate=auto: --rate auto measures another rate"), "{error}");
}

#[test]
fn a_share_is_read_with_and_without_its_sign() {
    assert_eq!([margin("5%"), margin("5"), margin("0.5 %")], [Ok(0.05), Ok(0.05), Ok(0.005)]);
    for bad in ["0%", "100%", "-1%", "x", ""] {
        assert!(margin(bad).is_err_and(|why| why.contains("such as 1% or 0.5%")), "{bad}");
    }
}

#[test]
fn slices_are_those_of_the_command_line_or_of_the_file_or_none() {
    let cell = |name: &str, workers: u32| {
        format!("[[cell]]\nname = \"{name}\"\nflags = \"time=10s workers={workers}\"\n")
    };
    let slices = |design: &str, given: Option<u32>| {
        let text = format!("run = \"x\"\n[design]\n{design}\n{}{}", cell("a", 1), cell("b", 2));
        let given = PlanOverrides { slices: given, ..PlanOverrides::default() };
        let planned = plan_study(&text, Path::new("s.toml"), given, &AnyFlags);
        planned.map(|study| study.plan.design.slices).map_err(|error| error.to_string())
    };
    assert_eq!(slices("slices = 4", None), Ok(4));
    assert_eq!((slices("slices = 4", Some(1)), slices("", Some(2))), (Ok(1), Ok(2)));
    assert_eq!(slices("", None), Ok(1));
    let error = slices("slices = 99", None).expect_err("too many");
    assert!(error.starts_with("slices = \"99\": write 1 to 16"), "{error}");
}
