//! RSA keys of a rogue: none is taken that the user has not allowed, and none makes a panic.

use crate::mysql::packets::{NONCE, RogueGreeting, more, packet, switch};
use crate::mysql::rogue::RogueMeeting;
use crate::mysql::rogue::RogueStep::{Send, Wait};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const GOOD: &str = include_str!("server.pem");

const NO_TEXT: &str = "it has no BEGIN PUBLIC KEY";
const DAMAGED: &str = "it is damaged, or no RSA key";
const MODULUS: &str = "its modulus is not valid for an RSA key";
const EXPONENT: &str = "its exponent is not valid for an RSA key";

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

/// Object identifiers of RSA and of elliptic curves, with the parameter that RSA has.
const RSA: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\0";
const EC: &[u8] = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01";

const USUAL: &[u8] = &[1, 0, 1];

/// A key, and what is said of it.
type RogueKey = (&'static str, Vec<u8>, &'static str);

/// A DER element.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_be_bytes();
    let begin = match content.len() {
        0..=0x7f => vec![tag, length[3]],
        0x80..=0xff => vec![tag, 0x81, length[3]],
        0x100..=0xffff => vec![tag, 0x82, length[2], length[3]],
        _ => vec![tag, 0x83, length[1], length[2], length[3]],
    };
    [&begin[..], content].concat()
}

/// Modulus and exponent, in a frame of an algorithm.
fn framed(algorithm: &[u8], key: &[u8]) -> Vec<u8> {
    let bits = [&[0][..], key].concat();
    let content = [element(SEQUENCE, algorithm), element(BIT_STRING, &bits)].concat();
    element(SEQUENCE, &content)
}

/// The numbers as they stand, a leading zero included where they have one.
fn numbers(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    element(SEQUENCE, &[element(INTEGER, modulus), element(INTEGER, exponent)].concat())
}

fn labelled(label: &str, der: &[u8]) -> Vec<u8> {
    let body = STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n").into_bytes()
}

fn pem(der: &[u8]) -> Vec<u8> {
    labelled("PUBLIC KEY", der)
}

fn of_numbers(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    pem(&framed(RSA, &numbers(modulus, exponent)))
}

/// An odd modulus of so many bits.
fn modulus(bits: usize) -> Vec<u8> {
    let mut number = vec![0xa5; bits.div_ceil(8)];
    // The highest bit is set, and those above it are not.
    number[0] = match bits % 8 {
        0 => 0xff,
        rest => (1 << rest) - 1,
    };
    number.insert(0, 0);
    number
}

/// What is no PEM text with a public key in it.
fn texts() -> Vec<RogueKey> {
    let changed = |from: &str, to: &str| GOOD.replace(from, to).into_bytes();
    let der = numbers(&modulus(2048), USUAL);
    vec![
        ("nothing", vec![], NO_TEXT),
        ("a line", b"\n".to_vec(), NO_TEXT),
        ("words", b"no key today".to_vec(), NO_TEXT),
        ("zeros", vec![0; 300], NO_TEXT),
        ("60,000 letters", vec![b'A'; 60_000], NO_TEXT),
        ("a certificate", labelled("CERTIFICATE", &der), NO_TEXT),
        ("a private key", labelled("PRIVATE KEY", &der), NO_TEXT),
        ("PKCS #1", labelled("RSA PUBLIC KEY", &der), "PKCS #1"),
        ("no end", changed("-----END", "-----BEND"), "it does not end"),
        ("half a beginning", changed("KEY-----\nM", "KEY----\nM"), "it cannot be read"),
        ("a hole in the base64", changed("DAQAB", "D*QAB"), "its base64 is damaged"),
        ("base64 without its end", changed("AQAB\n", "AQA\n"), "damaged"),
    ]
}

/// What the text stands for is no key.
fn structures() -> Vec<RogueKey> {
    let numbers = numbers(&modulus(2048), USUAL);
    let whole = framed(RSA, &numbers);
    let frame = |bits: &[u8]| {
        let content = [element(SEQUENCE, RSA), element(BIT_STRING, bits)].concat();
        pem(&element(SEQUENCE, &content))
    };
    let begun = |begin: &[u8]| pem(&[begin, &whole[4..]].concat());
    let more = |der: &[u8]| [der, &[0]].concat();
    vec![
        ("an empty body", pem(&[]), DAMAGED),
        ("one byte", pem(&[SEQUENCE]), DAMAGED),
        ("two bytes", pem(&[SEQUENCE, 0x82]), DAMAGED),
        ("half of it", pem(&whole[..whole.len() / 2]), DAMAGED),
        ("a length beyond the end", begun(&[SEQUENCE, 0x82, 0xff, 0xff]), DAMAGED),
        (
            "a length of eight bytes",
            begun(&[SEQUENCE, 0x88, 255, 255, 255, 255, 255, 255, 255, 255]),
            DAMAGED,
        ),
        ("a length of 127 bytes", begun(&[SEQUENCE, 0xff]), DAMAGED),
        (
            "no length but an end",
            pem(&[&[SEQUENCE, 0x80][..], &whole[4..], &[0, 0]].concat()),
            DAMAGED,
        ),
        ("another kind of element", begun(&[0x31, 0x82, 1, 0x22]), DAMAGED),
        ("PKCS #1 by another name", pem(&numbers), DAMAGED),
        ("an elliptic curve", pem(&framed(EC, &numbers)), DAMAGED),
        ("no bits", frame(&[]), DAMAGED),
        ("bits that are not used", frame(&[&[1][..], &numbers[..]].concat()), DAMAGED),
        ("something behind the key", pem(&more(&whole)), DAMAGED),
        ("something behind the numbers", pem(&framed(RSA, &more(&numbers))), DAMAGED),
        ("no exponent", pem(&framed(RSA, &element(SEQUENCE, &element(INTEGER, USUAL)))), DAMAGED),
        ("empty numbers", of_numbers(&[], &[]), DAMAGED),
        ("a negative modulus", of_numbers(&modulus(2048)[1..], USUAL), DAMAGED),
        ("a negative exponent", of_numbers(&modulus(2048), &[0x81]), DAMAGED),
    ]
}

/// Numbers that no key is made of, or none that anybody uses.
fn quantities() -> Vec<RogueKey> {
    let of = |bits: usize| of_numbers(&modulus(bits), USUAL);
    let with = |exponent: &[u8]| of_numbers(&modulus(2048), exponent);
    let mut even = modulus(2048);
    even[256] = 0xa4;
    vec![
        ("a modulus of zero", of_numbers(&[0], USUAL), "modulus has 0 bits"),
        ("a modulus of one", of_numbers(&[1], USUAL), "modulus has 1 bits"),
        ("300 zeros", of_numbers(&[0; 300], USUAL), "modulus has 0 bits"),
        ("one byte of modulus", of(8), "modulus has 8 bits"),
        ("41 bytes", of(328), "modulus has 328 bits"),
        ("42 bytes", of(336), "modulus has 336 bits"),
        ("512 bits", of(512), "modulus has 512 bits"),
        ("1,023 bits", of(1023), "modulus has 1023 bits"),
        ("1,025 bits", of(1025), "modulus has 1025 bits"),
        ("8,200 bits", of(8200), "modulus has 8200 bits"),
        ("16,384 bits", of(16_384), "modulus has 16384 bits"),
        ("300,000 bits", of(300_000), "modulus has 300000 bits"),
        ("an even modulus", of_numbers(&even, USUAL), MODULUS),
        ("an exponent of zero", with(&[0]), EXPONENT),
        ("an exponent of one", with(&[1]), EXPONENT),
        ("an exponent of two", with(&[2]), EXPONENT),
        ("an even exponent", with(&[1, 0, 0]), EXPONENT),
        ("an exponent of nine bytes", with(&[1; 9]), EXPONENT),
        ("an exponent as long as the modulus", with(&modulus(2048)), EXPONENT),
    ]
}

/// What becomes of a key that is sent where caching_sha2_password, or sha256_password, has come to
/// it.
fn met(pem: &[u8], is_old: bool, parameters: &str) -> RogueMeeting {
    let greeting = Send(RogueGreeting::of("caching_sha2_password").packet());
    let whole = match is_old {
        true => switch("sha256_password", NONCE),
        false => more(&[4]),
    };
    let key = Send(packet(4, &more(pem)));
    RogueMeeting::new(&[greeting, Wait, Send(packet(2, &whole)), Wait, key, Wait], parameters)
}

#[test]
fn a_key_that_is_none_ends_the_login() {
    let kinds = [texts(), structures(), quantities()];
    let keys: Vec<RogueKey> = kinds.into_iter().flatten().collect();
    assert!(keys.len() >= 32, "{}", keys.len());
    for ((name, pem, failure), is_old) in keys.iter().flat_map(|key| [(key, false), (key, true)]) {
        let met = met(pem, is_old, "ssl-mode=preferred&get-server-public-key=true");
        let named = ["the key that the server sends: it", failure];
        assert!(named.iter().all(|text| met.failure.contains(text)), "{name}: {}", met.failure);
        met.assert_kept_secret(name);
        // Who it is, and the wish for a key.
        assert_eq!(
            (met.packets.len(), &*met.packets[1]),
            (2, &[2 - u8::from(is_old)][..]),
            "{name}"
        );
    }
}

#[test]
fn no_key_is_taken_without_leave() {
    for (is_old, parameters) in [
        (false, "ssl-mode=preferred"),
        (true, "ssl-mode=preferred"),
        (false, "ssl-mode=disabled"),
        (true, "get-server-public-key=false"),
    ] {
        let met = met(GOOD.as_bytes(), is_old, parameters);
        let named = ["TLS", "server-public-key-path", "get-server-public-key"];
        assert!(named.iter().all(|name| met.failure.contains(name)), "{}", met.failure);
        met.assert_kept_secret(parameters);
        assert_eq!(met.packets.len(), 1, "{parameters}: {met:?}");
    }
}

#[test]
fn with_leave_any_key_is_taken_and_a_given_one_before_any_other() {
    let crlf = GOOD.replace('\n', "\r\n");
    for (pem, is_old) in [(GOOD, false), (GOOD, true), (crlf.as_str(), false)] {
        let met = met(pem.as_bytes(), is_old, "get-server-public-key=on");
        met.assert_kept_secret("a good key");
        assert_eq!(met.packets.len(), 3, "{met:?}");
        assert_eq!(met.packets[2].len(), 256);
    }
    let given = concat!(
        "server-public-key-path=",
        env!("CARGO_MANIFEST_DIR"),
        "/tests/it/mysql/server.pem"
    );
    let longer = of_numbers(&modulus(4096), USUAL);
    for is_old in [false, true] {
        let met = met(&longer, is_old, given);
        assert!(met.failure.contains("more than its plugin does"), "{}", met.failure);
        met.assert_kept_secret("a given key");
        // Hidden with the user's key, and nothing with that of the rogue.
        assert_eq!((met.packets.len(), met.packets[1].len()), (2, 256), "{met:?}");
    }
}
