//! Enums whose variants have names, each beside its variant.

/// Declares an enum with a name for each variant: `ALL` has the variants in their order, and `name`
/// returns the name of one.
#[macro_export]
macro_rules! named_variants {
    (
        $(#[$meta:meta])*
        $visible:vis enum $name:ident {
            $($(#[$about:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        $visible enum $name {
            $($(#[$about])* $variant,)+
        }

        impl $name {
            /// All of them, in the order of the enum.
            $visible const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The name, as files, flags and records have it.
            $visible fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}
