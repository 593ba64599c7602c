//! In how many slices the window of each run of a study is made.

use super::named;
use crate::error::LabError;
use crate::targets::{Target, TargetForm};
use dbtime_model::Nanos;
use dbtime_model::spec::{Rate, RateChoice, RunSpec};
use dbtime_model::study::{MOST_SLICES, StudyCell};

/// A slice is no shorter.
const LEAST_SLICE: Nanos = Nanos::from_millis(100);

/// About how long one is where nobody says how many there are, and how many those are at most.
pub(in crate::study) const USUAL_SLICE: Nanos = Nanos::from_secs(2);
const MOST_USUAL: u64 = 8;

/// How many there are of each run of these configurations; 1 where nobody says.
///
/// Errors: it is no such number, or a run cannot be divided.
pub(super) fn slices(given: Option<u32>, cells: &[StudyCell]) -> Result<u32, LabError> {
    let slices = given.unwrap_or(1);
    let wrong = |why: &str| named("slices", &slices.to_string(), why);
    if !(1..=MOST_SLICES).contains(&slices) {
        return Err(wrong(&format!("write 1 to {MOST_SLICES}")));
    }
    match cells.iter().find_map(|cell| why_whole(cell, slices)).filter(|_| slices > 1) {
        Some(why) => Err(wrong(why)),
        None => Ok(slices),
    }
}

/// How many there are where nobody says, of two settings that are compared: as many as have a good
/// length, where each run makes its target or all use one server as it is.
pub(super) fn usual_slices(cells: &[StudyCell]) -> u32 {
    let times = cells.iter().map(|cell| cell.spec.as_ref()?.window.time);
    let Some(times) = times.collect::<Option<Vec<Nanos>>>() else { return 1 };
    let slices = slices_of_window(times.into_iter().min().unwrap_or_default());
    let is_whole = |cell: &StudyCell| why_whole(cell, slices).is_some();
    match cells.iter().any(is_whole) || !can_alternate(cells) {
        true => 1,
        false => slices,
    }
}

/// The window that the runs of all these configurations have, where it can be of another length;
/// `None`: they have several, or something else ends a run.
pub(in crate::study) fn common_window(cells: &[StudyCell]) -> Option<Nanos> {
    let window = cells.first()?.spec.as_ref()?.window.time?;
    let is_common = |cell: &StudyCell| {
        let time = cell.spec.as_ref().and_then(|spec| spec.window.time);
        time == Some(window) && why_whole(cell, 1).is_none()
    };
    cells.iter().all(is_common).then_some(window)
}

/// How many slices of a good length a window has.
///
/// Shape: from 1.
pub fn slices_of_window(window: Nanos) -> u32 {
    (window.0 / USUAL_SLICE.0).clamp(1, MOST_USUAL) as u32
}

/// Why the run of a configuration cannot be divided so; `None`: it can.
fn why_whole(cell: &StudyCell, slices: u32) -> Option<&'static str> {
    let Some(spec) = &cell.spec else {
        return Some("a command has no window that dbtime could divide: leave it out");
    };
    match (spec.window.time, &spec.load.rate) {
        _ if spec.window.transactions.is_some() => {
            Some("a run of so many --transactions has no window to divide: leave one of both out")
        }
        (None, _) => Some("there is no window to divide: give the runs one with --time"),
        (_, Some(RateChoice::Given(Rate::Steps(_) | Rate::Ramp(..)))) => {
            Some("a rate that changes with time needs the whole window: leave one of both out")
        }
        (Some(time), _) if time.0 / u64::from(slices) < LEAST_SLICE.0 => {
            Some("slices would be shorter than 100 ms: lengthen the window with --time")
        }
        _ => None,
    }
}

/// Whether runs of these configurations can take turns and leave each other alone.
fn can_alternate(cells: &[StudyCell]) -> bool {
    let specs: Vec<&RunSpec> = cells.iter().filter_map(|cell| cell.spec.as_ref()).collect();
    let urls = || specs.iter().map(|spec| spec.target.url.as_str());
    let target = |url: &str| url.parse::<Target>();
    // The null engine has nothing that two could share.
    let is_null = |url: &str| TargetForm::of(url) == Some(TargetForm::Null);
    let is_own = |url: &str| is_null(url) || target(url).is_ok_and(|target| target.loads_data());
    let is_server = |url: &str| matches!(TargetForm::of(url), Some(TargetForm::Server(_)));
    let is_one = urls().all(|url| specs[0].target.url == url);
    urls().all(is_own) || is_one && urls().all(is_server)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::spec::FlagSetting;
    use dbtime_model::study::CellRole;

    /// A configuration with these flags.
    fn cell(flags: &[(&str, &str)]) -> StudyCell {
        let settings = flags.iter().map(|(name, value)| FlagSetting::new(*name, *value));
        let spec = RunSpec::default().with(&settings.collect::<Vec<_>>()).expect("a run");
        StudyCell {
            name: "a".to_owned(),
            role: CellRole::Baseline,
            baseline: 0,
            factors: Vec::new(),
            levels: Vec::new(),
            command: String::new(),
            spec: Some(spec),
        }
    }

    #[test]
    fn what_has_no_window_to_divide_is_refused_with_a_remedy() {
        let refused = |slices: u32, cell: StudyCell| {
            slices_of(slices, cell).expect_err("it cannot be divided").to_string()
        };
        let program = StudyCell { spec: None, ..cell(&[]) };
        for (slices, cell, why) in [
            (17, cell(&[("time", "10s")]), "slices = \"17\": write 1 to 16"),
            (0, cell(&[("time", "10s")]), "write 1 to 16"),
            (2, program.clone(), "a command has no window"),
            (2, cell(&[("transactions", "9")]), "has no window to divide"),
            (2, cell(&[("time", "10s"), ("rate", "ramp:1/s..2/s")]), "needs the whole window"),
            (16, cell(&[("time", "1s")]), "shorter than 100 ms"),
        ] {
            let error = refused(slices, cell);
            assert!(error.contains(why), "{error}");
        }
        assert_eq!(slices_of(1, program).ok(), Some(1));
        assert_eq!(slices_of(5, cell(&[("time", "10s")])).ok(), Some(5));
    }

    fn slices_of(given: u32, cell: StudyCell) -> Result<u32, LabError> {
        slices(Some(given), &[cell])
    }

    #[test]
    fn windows_can_be_lengthened_where_all_runs_have_the_same() {
        let of = |flags: &[(&str, &str)]| common_window(&[cell(&[("time", "9s")]), cell(flags)]);
        assert_eq!(of(&[("time", "9s"), ("rate", "5/s")]), Some(Nanos::from_secs(9)));
        assert_eq!(of(&[("time", "8s")]), None);
        assert_eq!(of(&[("time", "9s"), ("transactions", "9")]), None);
        assert_eq!(of(&[("time", "9s"), ("rate", "ramp:1/s..2/s")]), None);
        let program = StudyCell { spec: None, ..cell(&[]) };
        assert_eq!(common_window(&[program]), None);
    }

    #[test]
    fn slices_of_about_two_seconds_are_usual_where_runs_leave_each_other_alone() {
        let usual = |time: &str, targets: [&str; 2]| {
            let cells = targets.map(|target| cell(&[("time", time), ("target", target)]));
            usual_slices(&cells)
        };
        let own = ["mariadb", "sqlite"];
        assert_eq!(["3s", "4s", "10s", "60s"].map(|time| usual(time, own)), [1, 2, 5, 8]);
        assert_eq!(usual("10s", ["null:", "null:"]), 5);
        assert_eq!(usual("10s", ["mysql://u@h/d", "mysql://u@h/d"]), 5);
        assert_eq!(usual("10s", ["mysql://u@h/d", "mysql://u@other/d"]), 1);
        assert_eq!(usual("10s", ["sqlite:a.db", "sqlite:a.db"]), 1);
    }
}
