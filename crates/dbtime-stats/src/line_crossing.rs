//! Where a falling line through points reaches a value: calibration, or inverse prediction.

use crate::student::t_quantile;

/// Fewer points have no deviation from their line.
const FEWEST_POINTS: usize = 3;

/// The level of the interval.
const LEVEL: f64 = 0.95;

/// The place at which a line reaches a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineCrossing {
    /// The place, in the unit of the points' places; it may lie outside of them.
    pub at: f64,
    /// Half of its 95 % interval, in the same unit.
    pub half_width: f64,
    /// How far the line falls over one of that unit.
    pub fall: f64,
    /// The variance of the values about the line.
    pub variance: f64,
}

/// Where the least-squares line through points (place, value) reaches `value`.
///
/// A line that falls by less than `least_fall` over one unit, or rises, is taken to fall by that:
/// the place stays near the points, and its interval is wide.
/// Shape: `None` with fewer than three points, with all of them at one place, or where one is not
/// finite. `least_fall` must be above zero.
/// Source: Draper and Smith, Applied Regression Analysis, 3rd edition, section 3.2; the interval by
/// the delta method.
pub fn line_crossing(points: &[(f64, f64)], value: f64, least_fall: f64) -> Option<LineCrossing> {
    let count = points.len() as f64;
    if points.len() < FEWEST_POINTS || !points.iter().all(|(x, y)| x.is_finite() && y.is_finite()) {
        return None;
    }
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let xx = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
    let xy = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>();
    if xx <= 0.0 {
        return None;
    }
    let fall = (-xy / xx).max(least_fall);
    let off = |(x, y): &(f64, f64)| (y - mean_y + fall * (x - mean_x)).powi(2);
    let freedom = count - 2.0;
    let variance = points.iter().map(off).sum::<f64>() / freedom;
    let at = mean_x + (mean_y - value) / fall;
    let error = variance.sqrt() / fall * (1.0 / count + (at - mean_x).powi(2) / xx).sqrt();
    let half_width = t_quantile(0.5 + LEVEL / 2.0, freedom) * error;
    Some(LineCrossing { at, half_width, fall, variance })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    #[test]
    fn a_line_crosses_where_it_does_and_its_interval_covers_that() {
        let exact = [(0.0, 3.0), (1.0, 2.0), (3.0, 0.0)];
        let crossing = line_crossing(&exact, 1.0, 0.1).expect("three points");
        assert!((crossing.at - 2.0).abs() < 1e-12 && crossing.half_width < 1e-6, "{crossing:?}");
        assert!((crossing.fall - 1.0).abs() < 1e-12, "{crossing:?}");
        let mut noise = SeededNoise::new(1);
        let mut covered = 0;
        for _ in 0..1000 {
            let point = |place: u32| {
                let x = f64::from(place);
                (x, 3.0 - 0.5 * x + 0.2 * noise.normal())
            };
            let points: Vec<(f64, f64)> = (0..9).map(point).collect();
            let crossing = line_crossing(&points, 1.0, 0.1).expect("nine points");
            covered += u32::from((crossing.at - 4.0).abs() <= crossing.half_width);
        }
        assert!((920..=980).contains(&covered), "{covered}");
    }

    #[test]
    fn what_does_not_fall_is_not_followed_far() {
        let rising = [(0.0, 1.0), (1.0, 1.2), (2.0, 1.4)];
        let crossing = line_crossing(&rising, 1.0, 0.5).expect("three points");
        assert!((crossing.at - 1.4).abs() < 1e-12 && crossing.half_width > 1.0, "{crossing:?}");
    }

    #[test]
    fn points_that_make_no_line_have_no_crossing() {
        assert_eq!(line_crossing(&[(0.0, 1.0), (1.0, 0.0)], 0.5, 0.1), None);
        assert_eq!(line_crossing(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)], 0.5, 0.1), None);
        assert_eq!(line_crossing(&[(0.0, 1.0), (1.0, f64::NAN), (2.0, 0.0)], 0.5, 0.1), None);
    }
}
