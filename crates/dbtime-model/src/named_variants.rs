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

#[cfg(test)]
mod tests {
    use crate::ErrorClass;

    #[test]
    fn variants_have_their_order_and_names() {
        let names = ErrorClass::ALL.map(ErrorClass::name);
        assert_eq!((names[0], names[6], names[11]), ("busy", "read_only", "other"));
        for class in ErrorClass::ALL {
            let written = serde_json::to_string(&class).expect("JSON");
            assert_eq!(written, format!("\"{}\"", class.name()));
        }
    }
}
