//! Logging in: what the server asks before it lets anybody in, and what is answered.

use super::failure::malformed;
use super::login_methods::LoginMethods;
use super::shared::{BindingMode, PostgresIdentity};
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::plain_text::legible;
use dbtime_wire::postgres::{Authentication, begin_message, end_message, frontend};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};

/// How often a server may have the password hashed: that is a tenth of a second, and more is what
/// `postgres-protocol` refuses too. PostgreSQL's own count is 4096.
const MOST_ITERATIONS: u64 = 100_000;

/// How far logging in is.
#[derive(Default)]
pub(super) struct PostgresLogin {
    scram: Option<Box<ScramSha256>>,
    /// Hash of the server's certificate, where the connection is encrypted.
    pub(super) certificate_hash: Option<Vec<u8>>,
    /// Whether the server has proved that it knows the password too.
    is_proved: bool,
    /// Whether the proof is tied to the connection.
    is_bound: bool,
    /// Whether the password was sent, as it is or hashed.
    has_sent_password: bool,
    /// How often the server had the password hashed for its proof.
    pub(super) iterations: Option<u64>,
}

impl PostgresLogin {
    /// Answers a request for authentication.
    ///
    /// # Errors
    /// When it cannot be answered, with what to do.
    pub(super) fn answer(
        &mut self,
        payload: &[u8],
        identity: &PostgresIdentity,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure> {
        let request = Authentication::read(payload).map_err(|error| malformed(&error))?;
        if identity.binding == BindingMode::Must && !self.may_be_bound(&request) {
            return Err(unbound());
        }
        self.check_method(&request, &identity.methods)?;
        match request {
            Authentication::Ok if self.scram.is_some() && !self.is_proved => {
                Err(refused("the server let us in without proving that it knows the password"))
            }
            Authentication::Ok => Ok(()),
            Authentication::Cleartext => {
                send(password(identity)?.as_bytes(), out);
                self.has_sent_password = true;
                Ok(())
            }
            Authentication::Md5(salt) => {
                let user = identity.user.as_bytes();
                let password = password(identity)?.as_bytes();
                send(md5_hash(user, password, salt).as_bytes(), out);
                self.has_sent_password = true;
                Ok(())
            }
            Authentication::Sasl(mechanisms) => self.begin(&mechanisms, identity, out),
            Authentication::SaslContinue(message) => {
                let scram = self.scram.as_mut().ok_or_else(out_of_turn)?;
                self.iterations = iterations(message)?;
                scram
                    .update(message)
                    .map_err(|error| refused(&format!("SCRAM: {}", legible(&error.to_string()))))?;
                let begun = begin_message(frontend::PASSWORD, out);
                out.extend_from_slice(scram.message());
                end_message(begun, out);
                Ok(())
            }
            Authentication::SaslFinal(message) => {
                let scram = self.scram.as_mut().ok_or_else(out_of_turn)?;
                scram.finish(message).map_err(|error| {
                    let why = legible(&error.to_string());
                    refused(&format!("the server does not know the password itself: {why}"))
                })?;
                self.is_proved = true;
                Ok(())
            }
            Authentication::Other(method) => Err(refused(&format!(
                "the server asks for {method}, which dbtime does not speak: let this user in by \
                 scram-sha-256, md5 or password in pg_hba.conf"
            ))),
        }
    }

    /// Refuses a login that the server may not ask for, before anything of it is sent.
    fn check_method(
        &self,
        request: &Authentication<'_>,
        allowed: &LoginMethods,
    ) -> Result<(), DatabaseFailure> {
        let (method, described) = match request {
            // What was begun is looked at by itself.
            Authentication::Ok if self.has_sent_password || self.scram.is_some() => return Ok(()),
            Authentication::Ok => ("none", "no login at all"),
            Authentication::Cleartext => ("password", "the password in clear text"),
            Authentication::Md5(_) => ("md5", "the password hashed by MD5"),
            Authentication::Sasl(_)
            | Authentication::SaslContinue(_)
            | Authentication::SaslFinal(_) => ("scram-sha-256", "a login by SCRAM"),
            // It has no answer, whoever allows it.
            Authentication::Other(_) => return Ok(()),
        };
        match allowed.allow(method) {
            true => Ok(()),
            false => Err(refused(&format!(
                "the server asks for {described}, which require_auth={allowed} does not allow: let \
                 this user in by another method in pg_hba.conf, or change require_auth"
            ))),
        }
    }

    /// Whether what is asked for can be part of a login that is tied to its connection.
    fn may_be_bound(&self, request: &Authentication<'_>) -> bool {
        match request {
            Authentication::Sasl(_) => true,
            Authentication::Cleartext | Authentication::Md5(_) => false,
            _ => self.is_bound,
        }
    }

    fn begin(
        &mut self,
        mechanisms: &[&str],
        identity: &PostgresIdentity,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure> {
        let (mechanism, binding) = self.channel_binding(mechanisms, identity.binding);
        self.is_bound = mechanism == SCRAM_SHA_256_PLUS;
        if identity.binding == BindingMode::Must && !self.is_bound {
            return Err(unbound());
        }
        if !mechanisms.contains(&mechanism) {
            let offered = legible(&mechanisms.join(", "));
            return Err(refused(&format!(
                "the server only offers {offered}: let this user in by scram-sha-256 in pg_hba.conf"
            )));
        }
        let scram = ScramSha256::new(password(identity)?.as_bytes(), binding);
        let begun = begin_message(frontend::PASSWORD, out);
        out.extend_from_slice(mechanism.as_bytes());
        out.push(0);
        out.extend_from_slice(&(scram.message().len() as u32).to_be_bytes());
        out.extend_from_slice(scram.message());
        end_message(begun, out);
        self.scram = Some(Box::new(scram));
        Ok(())
    }

    /// What ties the password's proof to the channel: the hash of the server's certificate, where
    /// the channel is encrypted (RFC 5929, tls-server-end-point).
    fn channel_binding(
        &self,
        offered: &[&str],
        mode: BindingMode,
    ) -> (&'static str, ChannelBinding) {
        match &self.certificate_hash {
            _ if mode == BindingMode::Never => (SCRAM_SHA_256, ChannelBinding::unsupported()),
            Some(hash) if offered.contains(&SCRAM_SHA_256_PLUS) => {
                (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash.clone()))
            }
            // The server must hear that we could have, so that nobody can hide that it offers it.
            Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
        }
    }
}

/// How often the server has the password hashed; `None`: it does not say. Refuses a count that
/// proves nothing, or takes a server no time to ask for and us much to do.
fn iterations(message: &[u8]) -> Result<Option<u64>, DatabaseFailure> {
    let count = message.split(|byte| *byte == b',').find_map(|part| part.strip_prefix(b"i="));
    let count = count.filter(|count| count.iter().all(u8::is_ascii_digit) && !count.is_empty());
    // What is no count is refused as such by whoever reads the message.
    let Some(count) = count.map(String::from_utf8_lossy) else { return Ok(None) };
    match count.parse() {
        Ok(number @ 1..=MOST_ITERATIONS) => Ok(Some(number)),
        _ => Err(refused(&format!(
            "the server wants {} iterations of SCRAM, and dbtime makes 1 to {MOST_ITERATIONS}: set \
             scram_iterations there, and the user's password anew, if it is your server",
            legible(&count)
        ))),
    }
}

fn send(password: &[u8], out: &mut Vec<u8>) {
    let begun = begin_message(frontend::PASSWORD, out);
    out.extend_from_slice(password);
    out.push(0);
    end_message(begun, out);
}

fn password(identity: &PostgresIdentity) -> Result<&str, DatabaseFailure> {
    match identity.password.reveal() {
        "" => Err(refused(&format!(
            "the server wants a password for {}: put it into PGPASSWORD, ~/.pgpass or the target",
            identity.user
        ))),
        password => Ok(password),
    }
}

fn refused(text: &str) -> DatabaseFailure {
    DatabaseFailure::connection("authentication", text)
}

fn unbound() -> DatabaseFailure {
    refused(
        "the server does not tie the login to an encrypted connection, as channel_binding=require \
         wants it: encrypt (sslmode=require), and let this user in by scram-sha-256 in pg_hba.conf",
    )
}

fn out_of_turn() -> DatabaseFailure {
    refused("the server continues what it has not begun")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::secret::ServerSecret;

    fn identity(password: &str) -> PostgresIdentity {
        PostgresIdentity {
            user: "md5_user".to_owned(),
            password: ServerSecret::new(password),
            ..PostgresIdentity::default()
        }
    }

    fn respond(
        login: &mut PostgresLogin,
        payload: &[u8],
        password: &str,
    ) -> Result<Vec<u8>, DatabaseFailure> {
        let mut out = Vec::new();
        login.answer(payload, &identity(password), &mut out).map(|()| out)
    }

    #[test]
    fn each_method_has_its_answer() {
        let answer = |payload: &[u8]| respond(&mut PostgresLogin::default(), payload, "password");
        assert_eq!(answer(b"\0\0\0\0").expect("in"), b"");
        assert_eq!(answer(b"\0\0\0\x03").expect("sent"), b"p\0\0\0\x0dpassword\0");
        let hashed = b"p\0\0\0\x28md562af4dd09bbb41884907a838a3233294\0";
        assert_eq!(answer(b"\0\0\0\x05\x2a\x3d\x8f\xe0").expect("sent"), hashed);
        let first = answer(b"\0\0\0\x0aSCRAM-SHA-256\0\0").expect("sent");
        assert!(first[5..].starts_with(b"SCRAM-SHA-256\0\0\0\0\x20n,,n=,r="), "{first:?}");
    }

    #[test]
    fn what_cannot_be_answered_says_what_to_do() {
        let message_of = |payload: &[u8], password: &str| {
            respond(&mut PostgresLogin::default(), payload, password).expect_err("refused").message
        };
        assert!(message_of(b"\0\0\0\x07", "x").contains("GSSAPI"));
        assert!(message_of(b"\0\0\0\x09", "x").contains("SSPI"));
        assert!(message_of(b"\0\0\0\x03", "").contains("PGPASSWORD"));
        assert!(message_of(b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0", "x").contains("only offers"));
        assert!(message_of(b"\0\0\0\x0br=x,s=eA==,i=1", "x").contains("not begun"));
    }

    #[test]
    fn a_login_that_has_to_be_tied_to_its_connection_is_no_other() {
        let identity = PostgresIdentity { binding: BindingMode::Must, ..identity("password") };
        let answer = |login: &mut PostgresLogin, payload: &[u8]| {
            let mut out = Vec::new();
            login.answer(payload, &identity, &mut out).map(|()| out)
        };
        let encrypted =
            || PostgresLogin { certificate_hash: Some(vec![7; 32]), ..PostgresLogin::default() };
        let (plain, both) =
            (b"\0\0\0\x0aSCRAM-SHA-256\0\0", b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
        let refused: [(PostgresLogin, &[u8]); 6] = [
            (encrypted(), b"\0\0\0\0"),
            (encrypted(), b"\0\0\0\x03"),
            (encrypted(), b"\0\0\0\x05\x2a\x3d\x8f\xe0"),
            (encrypted(), plain),
            (PostgresLogin::default(), plain),
            (PostgresLogin::default(), both),
        ];
        for (mut login, payload) in refused {
            let failure = answer(&mut login, payload).expect_err("refused");
            assert!(failure.message.contains("channel_binding=require"), "{}", failure.message);
        }
        let mut login = encrypted();
        let first = answer(&mut login, both).expect("sent");
        assert!(first[5..].starts_with(b"SCRAM-SHA-256-PLUS\0"), "{first:?}");
        answer(&mut login, b"\0\0\0\x03").expect_err("no password goes behind it");
        let never = PostgresIdentity { binding: BindingMode::Never, ..identity.clone() };
        let mut out = Vec::new();
        encrypted().answer(both, &never, &mut out).expect("sent");
        assert!(out[5..].starts_with(b"SCRAM-SHA-256\0"), "{out:?}");
        let said = out.windows(3).any(|word| word == b"n,,");
        assert!(said, "it could not, as far as the server knows");
    }

    #[test]
    fn a_login_that_the_server_may_not_ask_for_is_refused_before_anything_is_sent() {
        let answer = |methods: &str, requests: &[&[u8]]| {
            let methods = LoginMethods::read(methods).expect(methods);
            let identity = PostgresIdentity { methods, ..identity("password") };
            let (mut login, mut out) = (PostgresLogin::default(), Vec::new());
            let mut all = requests.iter();
            let failed = all.find_map(|one| login.answer(one, &identity, &mut out).err());
            failed.map(|failure| (failure.message, out))
        };
        let (none, clear): (&[u8], &[u8]) = (b"\0\0\0\0", b"\0\0\0\x03");
        let (hashed, scram): (&[u8], &[u8]) =
            (b"\0\0\0\x05\x2a\x3d\x8f\xe0", b"\0\0\0\x0aSCRAM-SHA-256\0\0");
        for (methods, request, asked) in [
            ("scram-sha-256", clear, "the password in clear text"),
            ("scram-sha-256,none", hashed, "the password hashed by MD5"),
            ("password,md5", none, "no login at all"),
            ("!scram-sha-256", scram, "a login by SCRAM"),
            ("!none", none, "no login at all"),
            ("gss", none, "no login at all"),
        ] {
            let (message, sent) = answer(methods, &[request]).expect(methods);
            let start = format!("the server asks for {asked}, which require_auth={methods} does");
            assert!(message.starts_with(&start), "{message}");
            assert!(sent.is_empty(), "{methods}");
        }
        let allowed: [(&str, &[&[u8]]); 4] = [
            ("password,none", &[clear, none]),
            ("!none", &[hashed, none]),
            ("!password,!md5", &[none]),
            ("scram-sha-256", &[scram]),
        ];
        for (methods, requests) in allowed {
            assert_eq!(answer(methods, requests), None, "{methods}");
        }
        let (message, _) = answer("scram-sha-256", &[scram, none]).expect("it has proved nothing");
        assert!(message.contains("without proving"), "{message}");
    }

    #[test]
    fn how_often_the_password_is_hashed_is_known() {
        let mut login = PostgresLogin::default();
        respond(&mut login, b"\0\0\0\x0aSCRAM-SHA-256\0\0", "x").expect("begun");
        respond(&mut login, b"\0\0\0\x0br=x,s=eA==,i=12", "x").expect_err("no nonce of ours");
        assert_eq!(login.iterations, Some(12));
    }

    #[test]
    fn a_server_cannot_have_us_compute_without_end() {
        let answer = |count: &str| {
            let mut login = PostgresLogin::default();
            respond(&mut login, b"\0\0\0\x0aSCRAM-SHA-256\0\0", "x").expect("begun");
            let first = [&b"\0\0\0\x0br=x,s=eA==,i="[..], count.as_bytes()].concat();
            respond(&mut login, &first, "x").expect_err("refused").message
        };
        for count in ["0", "000", "100001", "4294967295", "99999999999999999999999"] {
            let message = answer(count);
            assert!(message.contains(&format!("wants {count} iterations")), "{message}");
        }
        for count in ["1", "4096", "100000"] {
            assert!(answer(count).contains("nonce"), "{count} is none of its faults");
        }
        assert!(answer("-1").starts_with("SCRAM: "));
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_not_believed() {
        let mut login = PostgresLogin::default();
        respond(&mut login, b"\0\0\0\x0aSCRAM-SHA-256\0\0", "x").expect("begun");
        assert!(
            respond(&mut login, b"\0\0\0\0", "x").expect_err("no proof").message.contains("prov")
        );
        let wrong = b"\0\0\0\x0br=somebodyelses,s=eA==,i=4096";
        assert!(respond(&mut login, wrong, "x").expect_err("nonce").message.contains("nonce"));
    }
}
