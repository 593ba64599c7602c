//! The RSA key of a server, which hides a password on its way there.
//!
//! A key comes from a file, or from whoever answers. Its text is read by the library of rustls;
//! what that stands for is looked at here before `mysql_common` calculates with it, which panics
//! for numbers that are no key.
//!
//! Source: RFC 5280, 4.1; RFC 8017, A.1.1 and 7.1.1.

use crate::databases::der::{OBJECT, SEQUENCE, element};
use mysql_common::crypto::rsa::{GetRandom, Pkcs1OaepPadding, PublicKey};
use mysql_common::num_bigint::BigUint;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use std::ops::RangeInclusive;

/// A key that a password can be hidden with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerPublicKey {
    /// Without leading zeros, as is the exponent.
    modulus: Vec<u8>,
    exponent: Vec<u8>,
}

/// Why a password cannot be hidden with a key. None of the texts repeats what a server sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// The text around it.
    #[error("{0}: it must be in PEM form, as `openssl rsa -pubout` writes it")]
    Form(&'static str),
    /// RSA alone, in another form.
    #[error(
        "it is in the form of PKCS #1 (BEGIN RSA PUBLIC KEY): convert it with \
         `openssl rsa -RSAPublicKey_in -pubout`"
    )]
    Pkcs1,
    /// What the text stands for.
    #[error("it is damaged, or no RSA key")]
    Damaged,
    /// The length of its modulus.
    #[error("its modulus has {0} bits: use a key of 1,024 to 8,192 bits, in whole bytes")]
    Size(usize),
    /// Numbers of which no RSA key is made.
    #[error("its {0} is not valid for an RSA key: use another key")]
    Number(&'static str),
    /// The password does not fit.
    #[error("it hides passwords of {0} bytes at most: use a longer key, or TLS")]
    TooLong(usize),
    /// The system gives no random bytes.
    #[error("there are no random bytes to hide the password with: {0}")]
    Random(String),
}

/// Bits of a modulus. Shorter keys can be broken; MySQL makes such of 2,048.
const MODULUS_BITS: RangeInclusive<usize> = 1024..=8192;

/// Bytes of an exponent: longer ones are for nothing but a client's CPU time.
const EXPONENT_BYTES: usize = 8;

/// What OAEP adds with SHA-1: two hashes, a mark and a zero.
const OAEP_BYTES: usize = 42;

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

/// The object identifier of RSA keys, 1.2.840.113549.1.1.1.
const RSA_ENCRYPTION: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

impl ServerPublicKey {
    /// Reads the first public key of a PEM text.
    pub(super) fn from_pem(pem: &[u8]) -> Result<Self, PublicKeyError> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|error| match error {
            PemError::NoItemsFound if memchr::memmem::find(pem, b"RSA PUBLIC KEY").is_some() => {
                PublicKeyError::Pkcs1
            }
            PemError::NoItemsFound => PublicKeyError::Form("it has no BEGIN PUBLIC KEY"),
            PemError::MissingSectionEnd { .. } => PublicKeyError::Form("it does not end"),
            PemError::Base64Decode(_) => PublicKeyError::Form("its base64 is damaged"),
            _ => PublicKeyError::Form("it cannot be read"),
        })?;
        let (modulus, exponent) = numbers(&der).ok_or(PublicKeyError::Damaged)?;
        Self::checked(modulus, exponent)
    }

    /// The key of these numbers, if there can be one.
    fn checked(modulus: &[u8], exponent: &[u8]) -> Result<Self, PublicKeyError> {
        let is_odd = |number: &[u8]| number.last().is_some_and(|byte| byte & 1 == 1);
        let bits = bits(modulus);
        // `mysql_common` rounds other numbers of bits to the wrong number of bytes.
        if !MODULUS_BITS.contains(&bits) || !bits.is_multiple_of(8) {
            return Err(PublicKeyError::Size(bits));
        }
        if !is_odd(modulus) {
            return Err(PublicKeyError::Number("modulus"));
        }
        // With 1 the password would not be hidden at all.
        if !is_odd(exponent) || exponent == [1] || exponent.len() > EXPONENT_BYTES {
            return Err(PublicKeyError::Number("exponent"));
        }
        Ok(Self { modulus: modulus.to_vec(), exponent: exponent.to_vec() })
    }

    /// Hides a text, as RSAES-OAEP with SHA-1 does.
    pub(super) fn encrypt(&self, text: &[u8]) -> Result<Vec<u8>, PublicKeyError> {
        let most = self.modulus.len() - OAEP_BYTES;
        if text.len() > most {
            // A zero ends the password.
            return Err(PublicKeyError::TooLong(most - 1));
        }
        let number = BigUint::from_bytes_be;
        let key = PublicKey::new(number(&self.modulus), number(&self.exponent));
        key.encrypt_block(text, Pkcs1OaepPadding::new(GetRandom))
            .map_err(|error| PublicKeyError::Random(error.to_string()))
    }
}

/// Modulus and exponent of a SubjectPublicKeyInfo, without leading zeros.
fn numbers(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (algorithm, rest) = element(whole(der, SEQUENCE)?, SEQUENCE)?;
    let (object, _) = element(algorithm, OBJECT)?;
    let key = whole(rest, BIT_STRING)?.strip_prefix(&[0])?;
    let (modulus, rest) = element(whole(key, SEQUENCE)?, INTEGER)?;
    let exponent = whole(rest, INTEGER)?;
    (object == RSA_ENCRYPTION).then_some(())?;
    Some((natural(modulus)?, natural(exponent)?))
}

/// The content of an element that nothing follows.
fn whole(der: &[u8], tag: u8) -> Option<&[u8]> {
    let (content, rest) = element(der, tag)?;
    rest.is_empty().then_some(content)
}

/// A number without its leading zeros; none is negative here.
fn natural(integer: &[u8]) -> Option<&[u8]> {
    let is_negative = integer.first()? & 0x80 != 0;
    let zeros = integer.iter().take_while(|byte| **byte == 0).count();
    (!is_negative).then_some(&integer[zeros..])
}

/// Bits of a number without leading zeros.
fn bits(number: &[u8]) -> usize {
    let free = number.first().map_or(0, |byte| byte.leading_zeros() as usize);
    number.len() * 8 - free
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;
    use sha1::{Digest, Sha1};

    /// As `openssl` makes them, and what undoes it.
    const PEM: &str = include_str!("../../../tests/it/mysql/server.pem");
    const PRIVATE_EXPONENT: &[u8] = b"2e6d0aeeae18e4b0d8dd97c6481845c039c9a89bbdda33d460c3e18359\
        04ea98d7250ed9eceed9ec89a11b81a76922bbab6bac16605bf9169f34846d3ed85256da683ba922fcd3a47831\
        ce6faf0597d07d8bd617f99495bee6a812330cb373c478eb5ee6acd4688f4107be4997d839d3dbc5a4cf1a9daf\
        72f3e658d323cb275ac46330bf4406e58c646079e45d89d2460dd5bc50ba741a2b4578618bcce5acb9d9637a56\
        3ea93c382667dba307aa27903a9226d9c4ed6a7c6d675215dbd8073fc5339b88e1b1dc332c0e593af25fe08263\
        94616298db471c5bd024d35c24d3649d47a06ce5dc890c6b9483afdaeab2be4d1bf85aeab2001df142f98cd576\
        1ead";

    /// What masks the halves of a padded block.
    fn mask(seed: &[u8], length: usize) -> Vec<u8> {
        let blocks = (0u32..).flat_map(|n| Sha1::digest([seed, &n.to_be_bytes()[..]].concat()));
        blocks.take(length).collect()
    }

    fn xor(one: &[u8], other: &[u8]) -> Vec<u8> {
        one.iter().zip(other).map(|(a, b)| a ^ b).collect()
    }

    /// What a key's owner finds.
    fn undone(key: &ServerPublicKey, hidden: &[u8]) -> Vec<u8> {
        let exponent = BigUint::parse_bytes(PRIVATE_EXPONENT, 16).expect("digits");
        let modulus = BigUint::from_bytes_be(&key.modulus);
        let block = BigUint::from_bytes_be(hidden).modpow(&exponent, &modulus).to_bytes_be();
        // A zero, which is no part of the number, a masked seed, masked data.
        let (seed, data) = block.split_at(block.len() - (key.modulus.len() - 21));
        let mut whole_seed = vec![0; 20 - seed.len()];
        whole_seed.extend_from_slice(seed);
        let seed = xor(&whole_seed, &mask(data, 20));
        let data = xor(data, &mask(&seed, data.len()));
        let text = data.strip_prefix(&Sha1::digest([])[..]).expect("the hash of no label");
        let mark = text.iter().position(|byte| *byte != 0).expect("a mark");
        assert_eq!(text[mark], 1);
        text[mark + 1..].to_vec()
    }

    #[test]
    fn who_has_the_key_finds_what_was_hidden() {
        let key = ServerPublicKey::from_pem(PEM.as_bytes()).expect("a key");
        assert_eq!((key.modulus.len(), &*key.exponent), (256, &[1, 0, 1][..]));
        let longest = [7; 256 - OAEP_BYTES];
        for text in [&b"secret\0"[..], b"", &longest] {
            let hidden = key.encrypt(text).expect("hidden");
            assert_eq!(hidden.len(), 256);
            assert_eq!(undone(&key, &hidden), text);
        }
        let longer = [&longest[..], &[7]].concat();
        assert_eq!(key.encrypt(&longer), Err(PublicKeyError::TooLong(213)));
        // As a file of another system has it, behind a certificate.
        let other =
            format!("-----BEGIN X-----\nAAAA\n-----END X-----\n{PEM}").replace('\n', "\r\n");
        assert_eq!(ServerPublicKey::from_pem(other.as_bytes()), Ok(key));
    }

    #[test]
    fn a_key_in_another_form_is_named() {
        let refused = |pem: &str| ServerPublicKey::from_pem(pem.as_bytes()).expect_err("refused");
        let pkcs1 = PEM.replace("PUBLIC KEY", "RSA PUBLIC KEY");
        assert_eq!(refused(&pkcs1), PublicKeyError::Pkcs1);
        assert_eq!(
            refused(&PEM.replace("END", "end")).to_string().split(':').next(),
            Some("it does not end")
        );
        assert!(matches!(refused(""), PublicKeyError::Form(_)));
    }

    fn pem_of(der: &[u8]) -> String {
        let body = STANDARD.encode(der);
        format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
    }

    /// Neither reading nor hiding panics, and what is hidden has the length of its key.
    fn is_total(pem: &[u8]) -> bool {
        let Ok(key) = ServerPublicKey::from_pem(pem) else { return true };
        key.encrypt(b"secret\0").is_ok_and(|hidden| hidden.len() == key.modulus.len())
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(pem in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(is_total(&pem));
        }

        #[test]
        fn no_key_makes_it_panic(
            changes in proptest::collection::vec((0usize..294, any::<u8>()), 0..4),
            length in 0usize..=294,
            more in proptest::collection::vec(any::<u8>(), 0..4),
            is_cut: bool,
        ) {
            let body: String = PEM.lines().filter(|line| !line.starts_with('-')).collect();
            let mut der = STANDARD.decode(body).expect("base64");
            for (at, byte) in changes {
                der[at] = byte;
            }
            if is_cut {
                der.truncate(length);
            }
            der.extend(more);
            prop_assert!(is_total(pem_of(&der).as_bytes()));
        }
    }
}
