//! Sums and differences of figures that only grow, and of structs of such figures.

use crate::Nanos;

/// A figure that only grows: readings can be added up, and an earlier one taken off a later one.
pub(crate) trait GrowingFigure: Copy {
    /// Both together; the most there is where they are more.
    fn plus(self, other: Self) -> Self;

    /// What came since an earlier reading; nothing where it went back.
    fn minus(self, earlier: Self) -> Self;
}

impl GrowingFigure for u64 {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }

    #[inline]
    fn minus(self, earlier: Self) -> Self {
        self.saturating_sub(earlier)
    }
}

impl GrowingFigure for Nanos {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline]
    fn minus(self, earlier: Self) -> Self {
        self - earlier
    }
}

/// The sum and the difference of a known and an unknown figure are unknown.
impl<F: GrowingFigure> GrowingFigure for Option<F> {
    #[inline]
    fn plus(self, other: Self) -> Self {
        Some(self?.plus(other?))
    }

    #[inline]
    fn minus(self, earlier: Self) -> Self {
        Some(self?.minus(earlier?))
    }
}

/// Gives a struct `+=` and `-`, field by field. A field behind `;` is a maximum: a sum has the
/// larger one, a difference the later one.
macro_rules! growing {
    ($name:ident { $($field:ident),+ $(; $largest:ident)? }) => {
        impl $crate::growing::GrowingFigure for $name {
            #[inline]
            fn plus(self, other: Self) -> Self {
                Self {
                    $($field: $crate::growing::GrowingFigure::plus(self.$field, other.$field),)+
                    $($largest: self.$largest.max(other.$largest),)?
                }
            }

            #[inline]
            fn minus(self, earlier: Self) -> Self {
                Self {
                    $($field: $crate::growing::GrowingFigure::minus(self.$field, earlier.$field),)+
                    $($largest: self.$largest,)?
                }
            }
        }

        impl std::ops::AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                *self = $crate::growing::GrowingFigure::plus(*self, other);
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;

            /// What came since an earlier reading; nothing where a figure went back.
            #[inline]
            fn sub(self, earlier: Self) -> Self {
                $crate::growing::GrowingFigure::minus(self, earlier)
            }
        }
    };
}
pub(crate) use growing;
