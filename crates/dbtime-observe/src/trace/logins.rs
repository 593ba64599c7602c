//! Whose connections are, as the kernel's side tells when a client logs in.

use super::layout::text_until_zero;
use dbtime_model::traced::Login;

/// Room of a name, its zero included: `NAME_ROOM`.
pub(super) const NAME: usize = 64;

/// Bytes of a `struct login`.
const LOGIN: usize = 8 + 2 * NAME;

/// Reads the connection, and whose it is; `None` where it is something else.
pub(super) fn login(bytes: &[u8]) -> Option<(u64, Login)> {
    let bytes: &[u8; LOGIN] = bytes.try_into().ok()?;
    let (connection, names) = bytes.split_first_chunk()?;
    let (user, database) = names.split_first_chunk::<NAME>()?;
    let [user, database] = [user.as_slice(), database].map(text_until_zero);
    Some((u64::from_le_bytes(*connection), Login { user, database }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the kernel's side would write it.
    fn written(connection: u64, user: &str, database: &str) -> Vec<u8> {
        let mut bytes = vec![0; LOGIN];
        bytes[..8].copy_from_slice(&connection.to_le_bytes());
        bytes[8..8 + user.len()].copy_from_slice(user.as_bytes());
        bytes[8 + NAME..][..database.len()].copy_from_slice(database.as_bytes());
        bytes
    }

    #[test]
    fn names_end_with_a_zero() {
        let (connection, found) = login(&written(7, "app", "")).expect("a login");
        assert_eq!((connection, &*found.user, &*found.database), (7, "app", ""));
        let long = "n".repeat(NAME);
        let (_, found) = login(&written(7, &long, "shop")).expect("a login");
        assert_eq!((&*found.user, &*found.database), (&*long, "shop"));
        assert_eq!(login(&[0; 280]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), LOGIN..LOGIN + 2)) {
            prop_assert_eq!(login(&bytes).is_some(), bytes.len() == LOGIN);
        }
    }
}
