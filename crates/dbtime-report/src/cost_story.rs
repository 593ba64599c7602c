//! What measuring the parts costs, in sentences: a figure only where its range is narrow.

use crate::format::{counted, percent, rate, signed_us, us};
use dbtime_model::record::{BudgetMethod, CostCertainty, MeasuringCost, RunRecord, ThroughputCost};

/// What measuring the parts costs one client, or those of the run where they are flat out.
pub(crate) fn measuring_cost(record: &RunRecord) -> Option<String> {
    let cost = record.budget.as_ref()?.cost?;
    let whom = match cost.client_count() {
        1 => "one client".to_owned(),
        many => counted(many.into(), "client"),
    };
    let of = us(cost.without_us);
    let [low, high] = [cost.low_us, cost.high_us].map(signed_us);
    let [low_pct, high_pct] = [cost.low_us, cost.high_us].map(|us| percent(cost.pct(us)));
    let pairs = slices(&cost);
    Some(match cost.certainty() {
        CostCertainty::Known => format!(
            "measuring costs {whom} {} of {of}, {} ({low} to {high} {pairs})",
            us(cost.us),
            percent(cost.pct(cost.us))
        ),
        CostCertainty::Bounded => {
            format!(
                "measuring costs {whom} {low} to {high} of {of}, {low_pct} to {high_pct} {pairs}"
            )
        }
        CostCertainty::AtMost => {
            let most = cost.high_us.max(-cost.low_us);
            format!(
                "measuring costs {whom} at most {} of {of}, {} ({low} to {high} {pairs})",
                us(most),
                percent(cost.pct(most))
            )
        }
        CostCertainty::Unknown => format!(
            "what measuring costs {whom} is unknown: {low} to {high} of {of}, {low_pct} to \
             {high_pct} {pairs}"
        ),
    })
}

/// In what it was tried out.
fn slices(cost: &MeasuringCost) -> String {
    format!("in {} of slices with and without", counted(cost.pairs.into(), "pair"))
}

/// What measuring takes of the throughput flat out. Where the load is another, of a traced run that
/// this is not known.
pub(crate) fn throughput_cost(record: &RunRecord) -> Option<String> {
    let budget = record.budget.as_ref()?;
    let cost = budget.cost?;
    let Some(lost) = cost.throughput else {
        let is_traced = budget.method == BudgetMethod::Traced;
        let text = "its cost under this load is not measured: it is higher where CPUs are full";
        return is_traced.then(|| text.to_owned());
    };
    let ThroughputCost { lost_pct, low_pct, high_pct, without_tps } = lost;
    let [median, low, high] = [lost_pct, low_pct, high_pct].map(percent);
    let of = format!("the {}/s without", rate(without_tps));
    let pairs = slices(&cost);
    Some(match lost.certainty() {
        CostCertainty::Known => {
            format!("it takes {median} of {of} from the throughput ({low} to {high} {pairs})")
        }
        CostCertainty::Bounded => {
            format!("it takes {low} to {high} of {of} from the throughput, {pairs}")
        }
        CostCertainty::AtMost => {
            let most = percent(high_pct.max(-low_pct));
            format!("it takes at most {most} of {of} from the throughput ({low} to {high} {pairs})")
        }
        CostCertainty::Unknown => {
            format!("its effect on the throughput is unknown: {low} to {high} of {of}, {pairs}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::BudgetInfo;

    /// Of a budget with this method and cost.
    fn told(method: BudgetMethod, cost: MeasuringCost) -> String {
        let budget = BudgetInfo { method, cost: Some(cost), ..BudgetInfo::default() };
        let record = RunRecord { budget: Some(budget), ..RunRecord::default() };
        [measuring_cost(&record), throughput_cost(&record)].into_iter().flatten().collect()
    }

    #[test]
    fn a_cost_is_a_figure_only_where_its_range_is_narrow() {
        let of = |low_us, us, high_us| {
            let without_us = 1000.0;
            let cost =
                MeasuringCost { us, low_us, high_us, without_us, pairs: 6, ..Default::default() };
            told(BudgetMethod::Switches, cost)
        };
        let slices = "in 6 pairs of slices with and without";
        let known = "measuring costs one client 20.0 µs of 1.00 ms, 2.0 % (+10.0 µs to +30.0 µs";
        assert_eq!(of(10.0, 20.0, 30.0), format!("{known} {slices})"));
        let bounds = "+10.0 µs to +300 µs of 1.00 ms, 1.0 % to 30 %";
        assert_eq!(of(10.0, 20.0, 300.0), format!("measuring costs one client {bounds} {slices}"));
        let most = "measuring costs one client at most 40.0 µs of 1.00 ms, 4.0 % (−40.0 µs to +9.0";
        assert!(of(-40.0, -2.0, 9.0).starts_with(most), "{}", of(-40.0, -2.0, 9.0));
        let unknown = "what measuring costs one client is unknown: −291 µs to +291 µs of 1.00 ms, \
                       −29 % to 29 %";
        assert_eq!(of(-291.0, 3.0, 291.0), format!("{unknown} {slices}"));
    }

    #[test]
    fn throughput_that_is_lost_flat_out_is_told() {
        let of = |low_pct, high_pct| {
            let lost = ThroughputCost { lost_pct: 29.0, low_pct, high_pct, without_tps: 5153.0 };
            let throughput = Some(lost);
            let cost = MeasuringCost { clients: 8, throughput, pairs: 6, ..Default::default() };
            told(BudgetMethod::Traced, cost)
        };
        assert!(
            of(27.0, 31.0).contains("it takes 29 % of the 5,153/s without"),
            "{}",
            of(27.0, 31.0)
        );
        assert!(of(20.0, 40.0).contains("it takes 20 % to 40 % of the 5,153/s without"));
        assert!(of(-3.0, 2.0).contains("it takes at most 3.0 % of the 5,153/s"));
        let unknown = "its effect on the throughput is unknown: −20 % to 40 % of the 5,153/s";
        assert!(of(-20.0, 40.0).contains(unknown));
        assert!(of(27.0, 31.0).contains("8 clients"));
        let elsewhere = told(BudgetMethod::Traced, MeasuringCost::default());
        assert!(elsewhere.contains("under this load is not measured"), "{elsewhere}");
        let untraced = told(BudgetMethod::Switches, MeasuringCost::default());
        assert!(!untraced.contains("under this load"), "{untraced}");
    }
}
