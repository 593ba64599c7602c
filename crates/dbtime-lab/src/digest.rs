//! Hashes as texts.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{self, Read};

/// SHA-256 in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hexadecimal(Sha256::digest(bytes).iter())
}

/// The same of all that is read, and how many bytes that is.
///
/// # Errors
/// As reading.
pub(crate) fn digest_of(mut from: impl Read) -> io::Result<(String, u64)> {
    let (mut hash, mut length) = (Sha256::new(), 0);
    let mut some = vec![0; 1 << 16];
    loop {
        match from.read(&mut some) {
            Ok(0) => return Ok((hexadecimal(hash.finalize().iter()), length)),
            Ok(count) => {
                hash.update(&some[..count]);
                length += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hexadecimal<'a>(bytes: impl Iterator<Item = &'a u8>) -> String {
    bytes.fold(String::new(), |mut text, byte| {
        // Writing into a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_in_pieces_has_the_hash_of_the_whole() {
        let bytes: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
        let read = digest_of(&bytes[..]).expect("memory");
        assert_eq!(read, (digest(&bytes), 200_000));
    }
}
