//! From the server's greeting to its welcome.

use super::shared::MysqlIdentity;
use crate::socket::{TlsRequirement, Transport};
use dbtime_load::failure::DatabaseFailure;
use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize;
use std::collections::HashMap;

/// What the server says of itself in its greeting.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerGreeting {
    /// Its version as it writes it.
    pub(super) version: String,
    /// The connection's number there.
    pub(super) connection_id: u32,
    capabilities: CapabilityFlags,
    nonce: Vec<u8>,
    plugin: Option<AuthPlugin<'static>>,
}

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
}

/// The largest packet we announce: MySQL's own limit.
const MAX_PACKET: u32 = 1 << 30;

/// Reads the greeting.
pub(super) fn greeting(payload: &[u8]) -> Result<ServerGreeting, DatabaseFailure> {
    let no_mysql = |_| {
        let text = "the server's greeting is not MySQL's: is it a MySQL or MariaDB server?";
        DatabaseFailure::connection("protocol", text)
    };
    let handshake: HandshakePacket<'_> = ParseBuf(payload).parse(()).map_err(no_mysql)?;
    let version = handshake.server_version_str().into_owned();
    Ok(ServerGreeting {
        // MariaDB put this before its version, for clients that knew none above 5.
        version: version.strip_prefix("5.5.5-").unwrap_or(&version).to_owned(),
        connection_id: handshake.connection_id(),
        capabilities: handshake.capabilities(),
        nonce: handshake.nonce(),
        plugin: handshake.auth_plugin().map(AuthPlugin::into_owned),
    })
}

impl ServerGreeting {
    /// What both sides can do.
    pub(super) fn capabilities(&self) -> CapabilityFlags {
        let ours = CapabilityFlags::CLIENT_LONG_PASSWORD
            | CapabilityFlags::CLIENT_LONG_FLAG
            | CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_TRANSACTIONS
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            // Scripts may send several statements in one text.
            | CapabilityFlags::CLIENT_MULTI_STATEMENTS
            | CapabilityFlags::CLIENT_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PLUGIN_AUTH
            | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
            | CapabilityFlags::CLIENT_CONNECT_ATTRS
            | CapabilityFlags::CLIENT_DEPRECATE_EOF;
        ours & self.capabilities
    }
}

impl MysqlLogin {
    pub(super) fn new(transport: Transport, tls: TlsRequirement) -> Self {
        Self { is_unix: transport == Transport::Unix, tls: Some(tls), ..Self::default() }
    }

    /// The request for encryption, where it is wanted and can be had.
    pub(super) fn encryption(
        &self,
        greeting: &ServerGreeting,
        identity: &MysqlIdentity,
    ) -> Result<Option<Vec<u8>>, DatabaseFailure> {
        let is_offered = greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL);
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
        let known = |plugin: &&AuthPlugin<'_>| plugin.init().is_ok() && !is_refused(plugin);
        let plugin = greeting.plugin.as_ref().filter(known).cloned();
        // An unknown default plugin is that of other users: the server switches to ours.
        let plugin = plugin.unwrap_or(AuthPlugin::MysqlNativePassword);
        let proof = if plugin == AuthPlugin::Ed25519 {
            None // its challenge comes with a switch
        } else {
            self.start(&plugin, identity)?
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
            return Err(refused("mysql_old_password"));
        }
        let request: Result<AuthSwitchRequest<'_>, _> = ParseBuf(payload).parse(());
        let request = request.map_err(|_| cut_off())?;
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
        let Some(mut plugin) = self.plugin.take() else { return Err(cut_off()) };
        let response = plugin.run(self.context(identity), data);
        let response = response.map_err(|error| failed(&error.to_string()))?;
        self.plugin = Some(plugin);
        self.needs_key = is_key_request(response.data());
        Ok(match response {
            Response::Next { packet: Some(packet) } | Response::Last { packet: Some(packet) } => {
                LoginStep::Send(packet)
            }
            Response::Next { packet: None } | Response::Last { packet: None } => LoginStep::Wait,
        })
    }

    fn start(
        &mut self,
        plugin: &AuthPlugin<'_>,
        identity: &MysqlIdentity,
    ) -> Result<Option<Vec<u8>>, DatabaseFailure> {
        let name = String::from_utf8_lossy(plugin.as_bytes()).into_owned();
        if is_refused(plugin) {
            return Err(refused(&name));
        }
        if *plugin == AuthPlugin::MysqlClearPassword && !self.is_encrypted && !self.is_unix {
            return Err(failed("the server asks for the password in clear text; use TLS"));
        }
        let mut process = plugin.init().map_err(|_| refused(&name))?;
        let response = process.run(self.context(identity), &self.nonce);
        let response = response.map_err(|error| failed(&error.to_string()))?;
        self.plugin = Some(process);
        self.needs_key = is_key_request(response.data());
        Ok(response.data().map(<[u8]>::to_vec))
    }

    /// What the server said when it refused us. Without a key of its own it blames the password,
    /// which it has not even seen; nor does it say that a user has to connect with TLS.
    pub(super) fn explained(
        &self,
        mut failure: DatabaseFailure,
        greeting: &ServerGreeting,
    ) -> DatabaseFailure {
        let is_denied = failure.code == "1045" && !self.is_unix;
        let has_tls = greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL);
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

/// MySQL's hash of before 4.1 can be undone by whoever reads it.
fn is_refused(plugin: &AuthPlugin<'_>) -> bool {
    matches!(plugin, AuthPlugin::MysqlOldPassword)
}

/// Whether a packet asks for the public key, as sha256_password or as caching_sha2_password do.
fn is_key_request(packet: Option<&[u8]>) -> bool {
    matches!(packet, Some([0x01 | 0x02]))
}

fn refused(name: &str) -> DatabaseFailure {
    failed(&format!(
        "the server wants the authentication plugin {name}, which dbtime does not speak; give the \
         user mysql_native_password, caching_sha2_password, ed25519 or unix_socket"
    ))
}

fn failed(text: &str) -> DatabaseFailure {
    DatabaseFailure::connection("authentication", text)
}

fn cut_off() -> DatabaseFailure {
    failed("the server broke off in mid-authentication")
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
    use crate::server::secret::ServerSecret;

    #[test]
    fn without_a_key_the_password_is_not_to_blame() {
        let password = ServerSecret::new("x".to_owned());
        let identity = MysqlIdentity { password, ..MysqlIdentity::default() };
        let mut login = MysqlLogin { nonce: vec![7; 20], ..MysqlLogin::default() };
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
