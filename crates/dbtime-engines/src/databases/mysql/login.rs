//! From the server's greeting to its welcome.

use super::greeting::ServerGreeting;
use super::public_key::ServerPublicKey;
use super::shared::MysqlIdentity;
use crate::socket::{TlsRequirement, Transport};
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::plain_text::legible_within;
use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakeResponse, SslRequest};
use mysql_common::proto::MySerialize;
use std::collections::HashMap;

/// What logging in goes on with.
pub(super) enum LoginStep {
    /// This is sent.
    Send(Vec<u8>),
    /// Nothing is sent; the server goes on.
    Wait,
    /// This is sent, and all that follows is encrypted.
    Encrypt(Vec<u8>),
}

/// The state of logging in on one connection.
#[derive(Debug, Default)]
pub(super) struct MysqlLogin {
    plugin: Option<AuthProc>,
    nonce: Vec<u8>,
    pub(super) is_encrypted: bool,
    is_unix: bool,
    /// Whether the server has been asked for its public key, and has not yet given it.
    needs_key: bool,
    tls: Option<TlsRequirement>,
    /// The number of the next packet, whoever sends it.
    pub(super) next_sequence: u8,
    /// Packets that the server has sent.
    packets: u32,
}

/// The largest packet we announce: MySQL's own limit.
const MAX_PACKET: u32 = 1 << 30;

/// Packets of a server in one login: a plugin takes three, and MariaDB may try several in turn.
const MAX_LOGIN_PACKETS: u32 = 32;

/// Characters of a plugin's name in a message; names are shorter.
const SHOWN_NAME: usize = 64;

impl MysqlLogin {
    pub(super) fn new(transport: Transport, tls: TlsRequirement) -> Self {
        Self { is_unix: transport == Transport::Unix, tls: Some(tls), ..Self::default() }
    }

    /// A packet of the server has come. One with an error is taken whatever its number: who ends a
    /// connection has not always counted.
    pub(super) fn count(&mut self, sequence: u8, is_error: bool) -> Result<(), DatabaseFailure> {
        if sequence != self.next_sequence && !is_error {
            return Err(out_of_turn("the server's packets are not numbered in their order"));
        }
        self.packets += 1;
        if self.packets > MAX_LOGIN_PACKETS {
            return Err(out_of_turn("the server goes on asking and accepts no login"));
        }
        self.next_sequence = sequence.wrapping_add(1);
        Ok(())
    }

    /// The request for encryption, where it is wanted and can be had.
    pub(super) fn encryption(
        &self,
        greeting: &ServerGreeting,
        identity: &MysqlIdentity,
    ) -> Result<Option<Vec<u8>>, DatabaseFailure> {
        let is_offered = greeting.has(CapabilityFlags::CLIENT_SSL);
        match self.tls.unwrap_or(TlsRequirement::No) {
            TlsRequirement::Must if !is_offered => Err(DatabaseFailure::connection(
                "tls",
                "the server offers no TLS: give it a certificate (ssl_cert, ssl_key), or use \
                 ssl-mode=preferred or disabled",
            )),
            TlsRequirement::Must | TlsRequirement::IfOffered if is_offered => {
                // MariaDB reads the capabilities here, and not again in the answer that follows.
                let mut capabilities = greeting.capabilities() | CapabilityFlags::CLIENT_SSL;
                if identity.database.is_some() {
                    capabilities |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
                }
                let mut payload = Vec::new();
                // 45 is utf8mb4_general_ci, as in the answer that follows.
                SslRequest::new(capabilities, MAX_PACKET, 45).serialize(&mut payload);
                Ok(Some(payload))
            }
            _ => Ok(None),
        }
    }

    /// The answer to the greeting.
    pub(super) fn answer(
        &mut self,
        greeting: &ServerGreeting,
        identity: &MysqlIdentity,
    ) -> Result<Vec<u8>, DatabaseFailure> {
        self.nonce.clone_from(&greeting.nonce);
        let usable = |plugin: &&AuthPlugin<'_>| self.objection(plugin, identity).is_none();
        let plugin = greeting.plugin.as_ref().filter(usable).cloned();
        // A default plugin that is not used is that of other users: the server switches to ours.
        let plugin = plugin.unwrap_or(AuthPlugin::MysqlNativePassword);
        let proof = match plugin {
            // Their challenge comes with a switch.
            AuthPlugin::Ed25519 | AuthPlugin::Parsec => None,
            _ => self.start(&plugin, identity)?,
        };
        let mut capabilities = greeting.capabilities();
        if self.is_encrypted {
            capabilities |= CapabilityFlags::CLIENT_SSL;
        }
        let named = capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH).then_some(plugin);
        let attributes = capabilities
            .contains(CapabilityFlags::CLIENT_CONNECT_ATTRS)
            .then(|| HashMap::from([("program_name".to_owned(), "dbtime".to_owned())]));
        let response = HandshakeResponse::new(
            proof,
            (8, 0, 0),
            Some(identity.user.as_bytes()),
            identity.database.as_deref().map(str::as_bytes),
            named,
            capabilities,
            attributes,
            MAX_PACKET,
        );
        let mut payload = Vec::new();
        response.serialize(&mut payload);
        Ok(payload)
    }

    /// The server wants another way to prove who we are.
    pub(super) fn switch(
        &mut self,
        payload: &[u8],
        identity: &MysqlIdentity,
    ) -> Result<LoginStep, DatabaseFailure> {
        if payload.len() == 1 {
            return Err(unsupported(&AuthPlugin::MysqlOldPassword));
        }
        let request: Result<AuthSwitchRequest<'_>, _> = ParseBuf(payload).parse(());
        let request =
            request.map_err(|_| out_of_turn("the server names no plugin to log in by"))?;
        self.nonce = request.plugin_data().to_vec();
        let proof = self.start(&request.auth_plugin(), identity)?;
        Ok(LoginStep::Send(proof.unwrap_or_default()))
    }

    /// The server has more to say in the present way; `data` is without its leading 0x01.
    pub(super) fn more(
        &mut self,
        data: &[u8],
        identity: &MysqlIdentity,
    ) -> Result<LoginStep, DatabaseFailure> {
        if std::mem::take(&mut self.needs_key) {
            let key = ServerPublicKey::from_pem(data).map_err(|error| {
                let remedy = "TLS (ssl-mode=required) needs none";
                failed(&format!("the key that the server sends: {error}; {remedy}"))
            })?;
            return Ok(LoginStep::Send(self.hidden(&key, identity)?));
        }
        let Some(plugin) = self.plugin.take() else {
            return Err(out_of_turn("the server asks for more than its plugin does"));
        };
        Ok(self.run(plugin, data, identity)?.map_or(LoginStep::Wait, LoginStep::Send))
    }

    fn start(
        &mut self,
        plugin: &AuthPlugin<'_>,
        identity: &MysqlIdentity,
    ) -> Result<Option<Vec<u8>>, DatabaseFailure> {
        if let Some(objection) = self.objection(plugin, identity) {
            return Err(objection);
        }
        let process = plugin.init().map_err(|_| unsupported(plugin))?;
        self.needs_key = false;
        let nonce = self.nonce.clone();
        self.run(process, &nonce, identity)
    }

    /// Has a plugin answer what the server sent.
    fn run(
        &mut self,
        mut plugin: AuthProc,
        challenge: &[u8],
        identity: &MysqlIdentity,
    ) -> Result<Option<Vec<u8>>, DatabaseFailure> {
        let response = plugin
            .run(self.context(identity), challenge)
            .map_err(|error| out_of_turn(&format!("the server's challenge: {error}")))?;
        let (packet, is_last) = match response {
            Response::Next { packet } => (packet, false),
            Response::Last { packet } => (packet, true),
        };
        if matches!(packet.as_deref(), Some([0x01 | 0x02])) {
            // It asks for the server's key, as sha256_password and caching_sha2_password do.
            return self.key_request(packet, identity);
        }
        self.plugin = (!is_last).then_some(plugin);
        Ok(packet)
    }

    /// What becomes of a plugin's request for the server's key, which anybody can answer.
    fn key_request(
        &mut self,
        request: Option<Vec<u8>>,
        identity: &MysqlIdentity,
    ) -> Result<Option<Vec<u8>>, DatabaseFailure> {
        self.plugin = None;
        if let Some(key) = &identity.exchange.server_key {
            return self.hidden(key, identity).map(Some);
        }
        if !self.takes_any_key(identity) {
            return Err(no_key());
        }
        self.needs_key = true;
        Ok(request)
    }

    /// Whether a key that is sent is used: who is behind the server's own socket is the server.
    fn takes_any_key(&self, identity: &MysqlIdentity) -> bool {
        self.is_unix || identity.exchange.trusts_sent_key
    }

    /// The password as only the owner of a key reads it.
    fn hidden(
        &self,
        key: &ServerPublicKey,
        identity: &MysqlIdentity,
    ) -> Result<Vec<u8>, DatabaseFailure> {
        let password = identity.password.reveal().as_bytes();
        let ended = password.iter().chain(&[0]);
        let mixed: Vec<u8> =
            ended.zip(self.nonce.iter().cycle()).map(|(byte, nonce)| byte ^ nonce).collect();
        key.encrypt(&mixed).map_err(|error| failed(&format!("the server's public key: {error}")))
    }

    /// Why a way to log in is not gone, whoever proposes it.
    fn objection(
        &self,
        plugin: &AuthPlugin<'_>,
        identity: &MysqlIdentity,
    ) -> Option<DatabaseFailure> {
        let exchange = &identity.exchange;
        match plugin {
            // The hash of before 4.1 can be undone by whoever reads it.
            AuthPlugin::MysqlOldPassword | AuthPlugin::Other(_) => Some(unsupported(plugin)),
            AuthPlugin::MysqlClearPassword if !exchange.allows_clear_text => Some(failed(
                "the server asks for the password in clear text (mysql_clear_password), as it \
                 does for PAM and LDAP; allow that by enable-cleartext-plugin=true, over TLS \
                 (ssl-mode=verify-full) or its Unix socket",
            )),
            AuthPlugin::MysqlClearPassword if !self.is_encrypted && !self.is_unix => Some(failed(
                "the server asks for the password in clear text (mysql_clear_password); use TLS \
                 (ssl-mode=verify-full) or its Unix socket",
            )),
            // Without a password there is none to hide.
            AuthPlugin::Sha256Password
                if !self.is_encrypted
                    && exchange.server_key.is_none()
                    && !self.takes_any_key(identity)
                    && !identity.password.reveal().is_empty() =>
            {
                Some(no_key())
            }
            _ => None,
        }
    }

    /// What the server said when it refused us. Without a key of its own it blames the password,
    /// which it has not even seen; nor does it say that a user has to connect with TLS.
    pub(super) fn explained(
        &self,
        mut failure: DatabaseFailure,
        greeting: &ServerGreeting,
    ) -> DatabaseFailure {
        let is_denied = failure.code == "1045" && !self.is_unix;
        let has_tls = greeting.has(CapabilityFlags::CLIENT_SSL);
        failure.message += match (self.needs_key, self.is_encrypted) {
            (true, _) => {
                "; the server gave no RSA key to hide the password with: use TLS or its Unix \
                 socket, or give it a key"
            }
            (_, false) if is_denied && has_tls => {
                "; a user who has to connect with TLS (REQUIRE SSL) needs ssl-mode=required"
            }
            (_, true) if is_denied => {
                "; a user who must show a certificate (REQUIRE X509) needs ssl-cert and ssl-key"
            }
            _ => "",
        };
        failure
    }

    fn context<'a>(&'a self, identity: &'a MysqlIdentity) -> AuthContext<'a> {
        AuthContext { login: self, identity }
    }
}

fn unsupported(plugin: &AuthPlugin<'_>) -> DatabaseFailure {
    let name = legible_within(&String::from_utf8_lossy(plugin.as_bytes()), SHOWN_NAME);
    failed(&format!(
        "the server wants the authentication plugin {name}, which dbtime does not speak; give the \
         user mysql_native_password, caching_sha2_password, ed25519 or unix_socket"
    ))
}

/// That the server has to have the password itself, and nothing hides it from others.
fn no_key() -> DatabaseFailure {
    failed(
        "the server wants the password itself and no proof of it, and without TLS another server \
         in its place would get it; use TLS (ssl-mode=required, verify-full over a network that \
         others share), its Unix socket, or its public key (server-public-key-path=FILE); \
         get-server-public-key=true takes whatever key is sent",
    )
}

fn failed(text: &str) -> DatabaseFailure {
    DatabaseFailure::connection("authentication", text)
}

fn out_of_turn(text: &str) -> DatabaseFailure {
    let text = format!(
        "{text}: is it a MySQL or MariaDB server, or does something between change what it sends?"
    );
    DatabaseFailure::connection("protocol", text)
}

/// What a plugin may know.
struct AuthContext<'a> {
    login: &'a MysqlLogin,
    identity: &'a MysqlIdentity,
}

impl Context for AuthContext<'_> {
    fn pass(&self) -> &[u8] {
        self.identity.password.reveal().as_bytes()
    }

    fn is_ipc_transport(&self) -> bool {
        self.login.is_unix
    }

    fn is_tls_transport(&self) -> bool {
        self.login.is_encrypted
    }

    fn scramble(&self) -> &[u8] {
        &self.login.nonce
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::mysql::shared::PasswordExchange;
    use crate::server::secret::ServerSecret;

    fn identity(exchange: PasswordExchange) -> MysqlIdentity {
        let password = ServerSecret::new("hunter2");
        MysqlIdentity { password, exchange, ..MysqlIdentity::default() }
    }

    fn at_tcp() -> MysqlLogin {
        MysqlLogin { nonce: vec![7; 20], ..MysqlLogin::default() }
    }

    fn sent(step: Result<LoginStep, DatabaseFailure>) -> Vec<u8> {
        match step.expect("no error") {
            LoginStep::Send(packet) | LoginStep::Encrypt(packet) => packet,
            LoginStep::Wait => Vec::new(),
        }
    }

    /// A request to log in by another plugin, with a challenge.
    fn switch_to(plugin: &str) -> Vec<u8> {
        [&b"\xfe"[..], plugin.as_bytes(), b"\0abcdefghijklmnopqrst\0"].concat()
    }

    #[test]
    fn no_key_is_taken_that_the_user_has_not_allowed() {
        let strict = identity(PasswordExchange::default());
        let mut login = at_tcp();
        login.start(&AuthPlugin::CachingSha2Password, &strict).expect("a proof");
        let refused = login.more(&[4], &strict).err().expect("refused").message;
        let named = ["TLS", "ssl-mode", "server-public-key-path", "get-server-public-key"];
        assert!(named.iter().all(|name| refused.contains(name)), "{refused}");
        let forged = at_tcp().switch(&switch_to("evil\n\u{1b}[2J"), &strict).err();
        let forged = forged.expect("refused").message;
        assert!(forged.contains("plugin evil \u{fffd}[2J, which"), "{forged}");
        let refused = at_tcp().switch(&switch_to("sha256_password"), &strict).err();
        assert!(refused.is_some_and(|refused| refused.message.contains("TLS")));
        // One that is given is used at once, and nothing is taken after it.
        let pem = include_bytes!("../../../tests/it/mysql/server.pem");
        let server_key = Some(ServerPublicKey::from_pem(pem).expect("a key"));
        let given = identity(PasswordExchange { server_key, ..PasswordExchange::default() });
        let mut login = at_tcp();
        login.start(&AuthPlugin::CachingSha2Password, &given).expect("a proof");
        assert_eq!(sent(login.more(&[4], &given)).len(), 256);
        assert!(login.more(pem, &given).is_err_and(|failure| failure.code == "protocol"));
        assert_eq!(sent(at_tcp().switch(&switch_to("sha256_password"), &given)).len(), 256);
        // At the server's own socket it is asked for.
        let mut login = MysqlLogin { is_unix: true, ..at_tcp() };
        assert_eq!(sent(login.switch(&switch_to("sha256_password"), &strict)), [1]);
        assert_eq!(sent(login.more(pem, &strict)).len(), 256);
    }

    #[test]
    fn a_clear_text_takes_leave_and_a_way_that_nobody_reads() {
        let allowing =
            identity(PasswordExchange { allows_clear_text: true, ..PasswordExchange::default() });
        let request = switch_to("mysql_clear_password");
        let encrypted = || MysqlLogin { is_encrypted: true, ..at_tcp() };
        let local = MysqlLogin { is_unix: true, ..at_tcp() };
        for mut login in [encrypted(), local] {
            assert_eq!(sent(login.switch(&request, &allowing)), b"hunter2\0");
        }
        let refused = encrypted()
            .switch(&request, &identity(PasswordExchange::default()))
            .err()
            .expect("refused");
        assert!(refused.message.contains("enable-cleartext-plugin"), "{}", refused.message);
        let refused = at_tcp().switch(&request, &allowing).err().expect("refused");
        assert!(refused.message.contains("use TLS"), "{}", refused.message);
    }

    #[test]
    fn a_default_plugin_that_is_not_used_is_that_of_others() {
        for plugin in [AuthPlugin::Sha256Password, AuthPlugin::MysqlClearPassword] {
            let plugin = Some(plugin);
            let capabilities = CapabilityFlags::CLIENT_PLUGIN_AUTH;
            let nonce = vec![7; 20];
            let greeting =
                ServerGreeting { capabilities, nonce, plugin, ..ServerGreeting::default() };
            let answer = at_tcp()
                .answer(&greeting, &identity(PasswordExchange::default()))
                .expect("an answer");
            assert!(answer.ends_with(b"mysql_native_password\0"));
        }
    }

    #[test]
    fn packets_are_counted() {
        let mut login = MysqlLogin::default();
        for sequence in 0..MAX_LOGIN_PACKETS as u8 {
            login.count(sequence, false).expect("in their order");
        }
        assert!(login.count(MAX_LOGIN_PACKETS as u8, false).is_err());
        assert!(MysqlLogin::default().count(1, false).is_err());
        assert!(MysqlLogin::default().count(1, true).is_ok());
    }

    #[test]
    fn without_a_key_the_password_is_not_to_blame() {
        let identity =
            identity(PasswordExchange { trusts_sent_key: true, ..PasswordExchange::default() });
        let mut login = at_tcp();
        let denied = || DatabaseFailure::connection("1045", "Access denied");
        login.start(&AuthPlugin::CachingSha2Password, &identity).expect("a proof");
        let greeting = ServerGreeting::default();
        assert_eq!(login.explained(denied(), &greeting).message, "Access denied");
        // The server does not know the password yet, and is asked for its key.
        let turn = login.more(&[4], &identity).expect("no error yet");
        assert!(matches!(turn, LoginStep::Send(packet) if packet == [2]));
        assert!(login.explained(denied(), &greeting).message.contains("no RSA key"));
    }

    #[test]
    fn who_may_have_to_come_in_encrypted_learns_how() {
        let capabilities = CapabilityFlags::CLIENT_SSL;
        let greeting = ServerGreeting { capabilities, ..ServerGreeting::default() };
        let explained = |login: &MysqlLogin, greeting: &ServerGreeting| {
            login.explained(DatabaseFailure::connection("1045", "denied"), greeting).message
        };
        let plain = MysqlLogin::default();
        assert!(explained(&plain, &greeting).contains("ssl-mode=required"));
        assert_eq!(explained(&plain, &ServerGreeting::default()), "denied");
        let encrypted = MysqlLogin { is_encrypted: true, ..MysqlLogin::default() };
        assert!(explained(&encrypted, &greeting).contains("ssl-cert"));
        let local = MysqlLogin { is_unix: true, ..MysqlLogin::default() };
        assert_eq!(explained(&local, &greeting), "denied");
    }
}
