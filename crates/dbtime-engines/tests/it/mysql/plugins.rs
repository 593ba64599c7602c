//! What may come between a client's first answer and its welcome: other plugins, more than there
//! is to say, nonsense.

use crate::mysql::behaviours::RogueBehaviour;
use crate::mysql::packets::{
    NONCE, RogueGreeting, announced, error, more, packet, switch, welcome,
};
use crate::mysql::rogue::RogueStep::{Flood, Send, Silence, Wait};
use crate::mysql::rogue::{IN_TIME, RogueStep};

const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";

const NO_SENSE: &str = "makes no sense: is it MySQL or MariaDB?";
const CLOSED: &str = "closed the connection";
const CHALLENGE: &str = "the server's challenge: ";
const TOO_MUCH: &str = "more than its plugin does";
const UNKNOWN: &str = "which dbtime does not speak";
const NO_KEY: &str = "server-public-key-path=FILE); get-server-public-key=true";

pub(super) fn all() -> Vec<RogueBehaviour> {
    let kinds =
        [answers(), errors(), challenges(), names(), surplus(), sha2(), in_turn(), parsec()];
    kinds.into_iter().flatten().collect()
}

/// One that has greeted with a default plugin, and goes on like this once it is answered.
fn goes_on(
    plugin: &'static str,
    name: impl Into<String>,
    steps: Vec<RogueStep>,
    failure: &'static str,
) -> RogueBehaviour {
    let begun = [Send(RogueGreeting::of(plugin).packet()), Wait];
    RogueBehaviour::new(name, begun.into_iter().chain(steps).collect(), failure)
}

/// One that sends this instead of a welcome, and goes.
fn sends(name: impl Into<String>, bytes: Vec<u8>, failure: &'static str) -> RogueBehaviour {
    goes_on(NATIVE, name, vec![Send(bytes)], failure)
}

fn answers() -> Vec<RogueBehaviour> {
    let firsts = [0x02, 0x7f, 0xfb, 0xfd].map(|first| {
        sends(format!("an answer of the kind {first}"), packet(2, &[first, 0, 0]), NO_SENSE)
    });
    let numbers = [0, 1, 3, 255].map(|sequence| {
        let bytes = packet(sequence, &welcome());
        sends(format!("a welcome with the number {sequence}"), bytes, "not numbered")
    });
    let rest = [
        goes_on(NATIVE, "no answer", vec![], CLOSED),
        goes_on(NATIVE, "no answer, and stays", vec![Silence], IN_TIME),
        sends("an empty answer", packet(2, &[]), NO_SENSE),
        sends("an answer of 70,000 bytes", packet(2, &[0; 70_000]), NO_SENSE),
        sends("an answer of 16 MiB", announced(0xff_ffff, 2), NO_SENSE),
    ];
    firsts.into_iter().chain(numbers).chain(rest).collect()
}

fn errors() -> Vec<RogueBehaviour> {
    let huge = [announced(0xff_ffff, 2), error(1045, b"x")].concat();
    let huge = vec![Send(huge), Flood(vec![b'x'; 1 << 16])];
    vec![
        sends("a refusal", packet(2, &error(1045, b"denied")), "check user and password"),
        sends("a refusal out of its turn", packet(9, &error(1045, b"denied")), "denied"),
        sends("a refusal of one byte", packet(2, &[0xff]), NO_SENSE),
        goes_on(NATIVE, "a refusal of 16 MiB", huge, NO_SENSE),
    ]
}

/// Challenges of the wrong length.
fn challenges() -> Vec<RogueBehaviour> {
    let of = |plugin: &'static str, lengths: &[usize], failure: &'static str| {
        let one = |length: &usize| {
            let bytes = packet(2, &switch(plugin, &vec![b'x'; *length]));
            sends(format!("a challenge of {length} bytes for {plugin}"), bytes, failure)
        };
        lengths.iter().map(one).collect::<Vec<_>>()
    };
    let kinds = [
        of(NATIVE, &[0, 8, 19, 21, 255, 60_000], CHALLENGE),
        of(SHA2, &[0, 8, 19, 21, 255], CHALLENGE),
        of("client_ed25519", &[0, 20, 31, 33], CHALLENGE),
        of("parsec", &[0, 20, 31, 33], CHALLENGE),
        of("sha256_password", &[0, 20, 255], NO_KEY),
        // As they should be: a proof is sent, from which nobody reads the password.
        of(NATIVE, &[20], CLOSED),
        of(SHA2, &[20], CLOSED),
        of("client_ed25519", &[32], CLOSED),
    ];
    kinds.into_iter().flatten().collect()
}

/// Plugins that are not spoken, or not without leave.
fn names() -> Vec<RogueBehaviour> {
    let unspoken = [
        "mysql_old_password",
        "dialog",
        "auth_gssapi_client",
        "authentication_ldap_sasl_client",
        "authentication_webauthn_client",
        "",
        "\x1b[2J\x1b]0;x\x07",
    ];
    let unspoken = unspoken.map(|plugin| {
        sends(format!("the plugin {plugin:?}"), packet(2, &switch(plugin, NONCE)), UNKNOWN)
    });
    let clear = packet(2, &switch("mysql_clear_password", NONCE));
    let rest = [
        sends("the plugin of before 4.1", packet(2, &[0xfe]), "mysql_old_password"),
        sends("a long plugin", packet(2, &switch(&"x".repeat(60_000), NONCE)), UNKNOWN),
        sends("a plugin without an end", packet(2, b"\xfedialog"), "names no plugin"),
        sends("clear text", clear.clone(), "enable-cleartext-plugin=true"),
        sends("clear text that is allowed, not encrypted", clear, "use TLS")
            .with("enable-cleartext-plugin=true&ssl-mode=preferred"),
    ];
    unspoken.into_iter().chain(rest).collect()
}

/// More of a plugin that has said all.
fn surplus() -> Vec<RogueBehaviour> {
    let data: [&[u8]; 4] = [b"", &[3], &[4], &[7; 1000]];
    let native = data.map(|data| {
        sends(
            format!("{} bytes more: {:?}", data.len(), data.first()),
            packet(2, &more(data)),
            TOO_MUCH,
        )
    });
    let default = goes_on(
        "sha256_password",
        "sha256_password by default, and its key",
        vec![Send(packet(2, &more(include_bytes!("server.pem"))))],
        TOO_MUCH,
    );
    native.into_iter().chain([default]).collect()
}

fn sha2() -> Vec<RogueBehaviour> {
    let key = more(include_bytes!("server.pem"));
    let states: [&[u8]; 7] = [b"", &[0], &[2], &[5], &[3, 3], &[4, 4], &key[1..]];
    let states = states.map(|state| {
        let name = format!("a state of {} bytes, {:?}", state.len(), state.first());
        goes_on(SHA2, name, vec![Send(packet(2, &more(state)))], CHALLENGE)
    });
    let full = |sequence| packet(sequence, &more(&[4]));
    let fast = packet(2, &more(&[3]));
    let challenge = [&NONCE[..], &[0]].concat();
    let again = vec![Send(packet(2, &switch(SHA2, &challenge))), Wait, Send(full(4))];
    let rest = [
        goes_on(SHA2, "the whole login", vec![Send(full(2))], NO_KEY),
        goes_on(SHA2, "a key ahead", vec![Send([full(2), packet(3, &key)].concat())], NO_KEY),
        goes_on(SHA2, "the whole login by a switch", again, NO_KEY),
        goes_on(SHA2, "a known password, and no more", vec![Send(fast.clone())], CLOSED),
        goes_on(
            SHA2,
            "known twice",
            vec![Send([fast.clone(), packet(3, &more(&[3]))].concat())],
            TOO_MUCH,
        ),
        goes_on(SHA2, "known, and a key", vec![Send([fast, packet(3, &key)].concat())], TOO_MUCH),
        goes_on(SHA2, "a downgrade", vec![Send(packet(2, &switch(NATIVE, NONCE))), Wait], CLOSED),
    ];
    states.into_iter().chain(rest).collect()
}

/// One plugin after the other.
fn in_turn() -> Vec<RogueBehaviour> {
    let of = |plugins: [&'static str; 2]| {
        let steps = plugins.into_iter().cycle().take(40).enumerate().flat_map(|(turn, plugin)| {
            [Send(packet(2 + 2 * turn as u8, &switch(plugin, NONCE))), Wait]
        });
        goes_on(NATIVE, format!("{plugins:?} in turn"), steps.collect(), "goes on asking")
    };
    vec![of([NATIVE, NATIVE]), of([SHA2, SHA2]), of([NATIVE, SHA2])]
}

fn parsec() -> Vec<RogueBehaviour> {
    let of = |name: &str, salt: &[u8], failure: &'static str| {
        let steps = vec![
            Send(packet(2, &switch("parsec", &[7; 32]))),
            Wait,
            Send(packet(4, &more(salt))),
            Wait,
        ];
        goes_on(NATIVE, format!("parsec, {name}"), steps, failure)
    };
    let salt = |begin: &[u8; 2]| [&begin[..], &[7; 18]].concat();
    vec![
        of("as it should be", &salt(b"P\x03"), CLOSED),
        of("another algorithm", &salt(b"Q\x03"), CHALLENGE),
        of("too many rounds", &salt(b"P\x04"), CHALLENGE),
        of("as many rounds as there are", &salt(b"P\xff"), CHALLENGE),
        of("a short salt", &salt(b"P\x03")[..19], CHALLENGE),
        of("a long salt", &[&salt(b"P\x03")[..], &[7]].concat(), CHALLENGE),
        of("no salt", &[], CHALLENGE),
    ]
}
