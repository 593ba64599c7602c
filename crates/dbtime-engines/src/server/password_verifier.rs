//! What servers keep of a password, as their tables of users hold it.
//!
//! A server that is given one of these never sees the password itself, nor does its log.

use crate::server::secret::ServerSecret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// For `mysql_native_password`: `*` and the SHA-1 of the password's SHA-1 in hexadecimal digits.
pub fn mysql_native(password: &ServerSecret) -> String {
    let hash = Sha1::digest(Sha1::digest(password.reveal()));
    hash.iter().fold(String::from("*"), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// For PostgreSQL's `scram-sha-256`, of one iteration: for a password that nobody can guess. More
/// of them slow down guessing, and each login too.
///
/// Shape: `password` is ASCII, as that needs no preparation (RFC 4013).
/// Source: RFC 5802; PostgreSQL manual, "pg_authid".
pub fn scram_sha_256(password: &ServerSecret, salt: [u8; 16]) -> String {
    // With one iteration the salted password is the first block of PBKDF2 alone.
    let first = [salt.as_slice(), &1_u32.to_be_bytes()].concat();
    let salted = keyed(password.reveal().as_bytes(), &first);
    let stored = Sha256::digest(keyed(&salted, b"Client Key"));
    let server = keyed(&salted, b"Server Key");
    let [salt, stored, server] = [&salt[..], &stored, &server].map(|part| STANDARD.encode(part));
    format!("SCRAM-SHA-256$1:{salt}${stored}:{server}")
}

fn keyed(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.chain_update(message).finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mysql_keeps_a_hash_of_a_hash() {
        // As the server's own PASSWORD() has it.
        let kept = mysql_native(&ServerSecret::new("password"));
        assert_eq!(kept, "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19");
    }

    #[test]
    fn postgres_keeps_what_a_client_can_prove() {
        // Calculated with Python's hashlib and hmac.
        let kept = scram_sha_256(&ServerSecret::new("password"), *b"0123456789abcdef");
        let (stored, server) = (
            "P5e1oD5NZsmvQ1SmsY/OmUXXYn2u1KcSsn/8+rFzIJI=",
            "inuWo0JrOQBdgToqdnAHK4iLAdwZVtef1VqKNM/WSNY=",
        );
        let salt = "MDEyMzQ1Njc4OWFiY2RlZg==";
        assert_eq!(kept, format!("SCRAM-SHA-256$1:{salt}${stored}:{server}"));
    }
}
