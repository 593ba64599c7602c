//! Macros that declare mirrored types and numbers once: for the code as structs and constants, for
//! the test as lists.

/// Declares structs that mirror those of C: `struct RustName = "c_name" { … }`. Without padding, or
/// it does not compile. Beside them, in tests, `STRUCTS`: the layout of each.
macro_rules! mirrored_structs {
    ($(
        $(#[$attribute:meta])*
        struct $name:ident = $c_name:literal {
            $($(#[$member_attribute:meta])* $member:ident: $type:ty,)+
        }
    )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
            #[repr(C)]
            pub(crate) struct $name {
                $($(#[$member_attribute])* pub(crate) $member: $type,)+
            }

            impl Default for $name {
                /// All zeros, as the kernel's tables begin.
                fn default() -> Self {
                    zerocopy::FromZeros::new_zeroed()
                }
            }
        )+

        /// Every struct above.
        #[cfg(test)]
        pub(super) const STRUCTS: &[super::btf::StructLayout] = &[$(
            super::btf::StructLayout {
                name: $c_name,
                size: size_of::<$name>(),
                members: &[$(super::btf::MemberLayout {
                    name: stringify!($member),
                    offset: std::mem::offset_of!($name, $member),
                    size: size_of::<$type>(),
                }),+],
            },
        )+];
    };
}

/// Declares constants that mirror the numbers of enums of C, under the same names:
/// `"c_enum": type { NAME = number, … }`. Beside them, in tests, `ENUMS`: the numbers of each.
macro_rules! mirrored_enums {
    ($(
        $(#[$attribute:meta])*
        $c_name:literal: $type:ty {
            $($(#[$number_attribute:meta])* $number:ident = $value:expr,)+
        }
    )+) => {
        $($($(#[$number_attribute])* pub(crate) const $number: $type = $value;)+)+

        /// Every number above, by its enum.
        #[cfg(test)]
        pub(super) const ENUMS: &[super::btf::EnumNumbers] = &[$(
            super::btf::EnumNumbers {
                name: $c_name,
                numbers: &[$((stringify!($number), $value as i128)),+],
            },
        )+];
    };
}
