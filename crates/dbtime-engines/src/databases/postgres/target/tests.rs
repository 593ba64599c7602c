//! What is read as a target of PostgreSQL, and how it is shown.

use super::*;

fn with(text: &str, variables: &[(&str, &str)]) -> Result<PostgresTarget, PostgresTargetError> {
    PostgresTarget::parse(text, &|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

fn target(text: &str) -> PostgresTarget {
    with(text, &[]).expect(text)
}

#[test]
fn a_target_says_who_and_where() {
    let target = target(
        "postgresql://al%20ice:p%40ss%3Aw@127.0.0.1:5433/sh%2Fop?connect_timeout=3\
         &application_name=x&options=-c%20jit%3Doff&sslmode=disable",
    );
    assert_eq!(target.address.to_string(), "127.0.0.1:5433");
    let PostgresIdentity { user, password, database, settings, .. } = &target.identity;
    assert_eq!([user, password.reveal(), database], ["al ice", "p@ss:w", "sh/op"]);
    let text = |text: &str| text.to_owned();
    let expected = [(text("application_name"), text("x")), (text("options"), text("-c jit=off"))];
    assert_eq!(settings, &expected);
    assert_eq!(target.connect_timeout, Nanos::from_secs(3));
    let shown = "postgres://al%20ice@127.0.0.1:5433/sh/op?sslmode=disable&connect_timeout=3\
                 &application_name=x&options=-c%20jit%3Doff";
    assert_eq!(target.to_string(), format!("'{shown}'"));
    assert_eq!(with(shown, &[]).expect(shown).to_string(), target.to_string());
    assert!(!format!("{target:?}").contains("p@ss"), "nothing shows a password");
}

#[test]
fn sockets_are_named_in_three_ways() {
    let path = "/run/pg/.s.PGSQL.5999";
    for text in [
        "postgres:///db?host=/run/pg&port=5999",
        "postgres://%2Frun%2Fpg:5999/db",
        "postgres://me@/db?host=/run/pg/&port=5999",
    ] {
        let ServerAddress::Unix(socket) = target(text).address else { panic!("{text}") };
        assert_eq!(socket, Path::new(path), "{text}");
    }
    let shown = target("postgres://me@/db?host=/run/pg&port=5999");
    assert_eq!(shown.to_string(), "'postgres://me@/db?host=/run/pg&port=5999'");
    let shown = target("postgres://o'neil@/db?host=/run/pg");
    assert_eq!(shown.to_string(), "'postgres://o%27neil@/db?host=/run/pg'");
    let shown = target("postgres://me:secret@/db?host=/run/pg&sslmode=prefer&password=x");
    assert_eq!(shown.to_string(), "'postgres://me@/db?host=/run/pg&sslmode=prefer'");
    assert_eq!(target("postgres://[::1]:1/").address.to_string(), "[::1]:1");
}

#[test]
fn the_environment_fills_in_what_a_target_leaves_out() {
    let variables = [
        ("PGHOST", "127.0.0.1"),
        ("PGPORT", "5440"),
        ("PGUSER", "env"),
        ("PGPASSWORD", "secret"),
        ("PGDATABASE", "from_env"),
        ("PGCONNECT_TIMEOUT", "0"),
        ("PGAPPNAME", ""),
    ];
    let all = with("postgres://", &variables).expect("a target");
    assert_eq!(all.to_string(), "postgres://env@127.0.0.1:5440/from_env");
    assert_eq!(all.identity.password.reveal(), "secret");
    assert_eq!(all.connect_timeout, Nanos(u64::MAX));
    let own = with("postgres://me:mine@127.0.0.2/own?port=1", &variables).expect("a target");
    assert_eq!(own.to_string(), "postgres://me@127.0.0.2:1/own");
    assert_eq!(own.identity.password.reveal(), "mine");
    let named = with("postgres://", &[("PGUSER", "me"), ("PGHOST", "127.0.0.1")]);
    assert_eq!(named.expect("a target").identity.database, "me", "as the user is called");
}

#[test]
fn settings_of_the_session_come_from_the_environment_too() {
    let variables = [
        ("PGCLIENTENCODING", "LATIN1"),
        ("PGTZ", "Asia/Tokyo"),
        ("PGDATESTYLE", "DEFAULT"),
        ("PGGEQO", "off"),
    ];
    let target = with("postgres://me@/?fallback_application_name=pgbench", &variables);
    let settings = target.expect("a target").identity.settings;
    let settings: Vec<_> = settings.iter().map(|(name, value)| [&**name, &**value]).collect();
    let expected = [
        ["application_name", "pgbench"],
        ["client_encoding", "LATIN1"],
        ["timezone", "Asia/Tokyo"],
        ["geqo", "off"],
    ];
    assert_eq!(settings, expected);
    let named = with("postgres://me@/?fallback_application_name=pgbench", &[("PGAPPNAME", "mine")]);
    assert_eq!(named.expect("a target").identity.settings[0].1, "mine");
}

#[test]
fn a_service_says_what_a_target_leaves_out_before_the_environment_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("services");
    std::fs::write(
        &file,
        "[shop]\nhost=127.0.0.3\nport=5999\ndbname=goods\nuser=clerk\n[odd]\nhostaddr=1.2.3.4\n",
    )
    .expect("a file");
    let file = file.display().to_string();
    let variables = |service| [("PGSERVICEFILE", &*file), ("PGSERVICE", service), ("PGPORT", "1")];
    let shop = with("postgres://", &variables("shop")).expect("a target");
    assert_eq!(shop.to_string(), "postgres://clerk@127.0.0.3:5999/goods");
    let own = with("postgres://me@/?dbname=x", &variables("shop")).expect("a target");
    assert_eq!(own.to_string(), "postgres://me@127.0.0.3:5999/x");
    let named = with("postgres:///?service=shop", &variables("none")).expect("a target");
    // What else the service says is kept by its name.
    assert_eq!(named.url(), "postgres://clerk@127.0.0.3:5999/goods?service=shop");
    with("postgres://me@/?service=", &variables("none")).expect("an empty name is none");
    let error = |service| with("postgres://", &variables(service)).expect_err("no").to_string();
    assert!(error("none").starts_with("definition of service \"none\" not found"));
    assert!(error("odd").contains("hostaddr"), "{}", error("odd"));
    assert!(error("none").ends_with("and unset PGSERVICE"), "{}", error("none"));
    let named = with("postgres:///?service=none", &variables("shop")).expect_err("no").to_string();
    assert!(named.ends_with("and leave `service` out of the target"), "{named}");
}

#[test]
fn what_a_variable_or_a_service_says_is_refused_by_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("services");
    std::fs::write(&file, "[odd]\nport=hush\nsslmode=no\n").expect("a file");
    let file = file.display().to_string();
    let error = |text: &str, variables: &[(&str, &str)]| {
        let told = with(text, variables).expect_err(text).to_string();
        assert!(!told.contains("hush") && !told.contains("%3A"), "{told}");
        told
    };
    let own = "postgres://me@127.0.0.1/";
    let port = error(own, &[("PGPORT", "hush")]);
    assert!(port.starts_with("PGPORT is no number from 1 to 65535: "), "{port}");
    let zero = error(own, &[("PGPORT", "0")]);
    assert!(zero.starts_with("PGPORT is no number"), "{zero}");
    with("postgres://me@127.0.0.1:1/", &[("PGPORT", "hush")]).expect("the target says it");
    let hosts = error("postgres://me@/", &[("PGHOST", "a,b")]);
    assert!(hosts.starts_with("PGHOST names several hosts"), "{hosts}");
    for (variable, value) in [("PGSSLMODE", "on"), ("PGCONNECT_TIMEOUT", "soon")] {
        let told = error(own, &[(variable, value)]);
        assert!(told.starts_with(&format!("`{value}` is no value for {variable}: ")), "{told}");
    }
    let of = |text: &str| error(text, &[("PGSERVICEFILE", &*file), ("PGSERVICE", "odd")]);
    let port = of("postgres://me@127.0.0.1/?sslmode=disable");
    assert!(port.starts_with("`port` of service \"odd\" is no number"), "{port}");
    let mode = of("postgres://me@127.0.0.1:1/");
    assert!(mode.starts_with("`no` is no value for `sslmode` of service \"odd\": "), "{mode}");
}

#[test]
fn the_password_file_comes_last() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(".pgpass");
    std::fs::write(&path, "127.0.0.1:5432:*:me:filed\nlocalhost:*:*:me:local\n").expect("file");
    let allow = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, permissions).expect("ours");
    };
    allow(0o600);
    let home = folder.path().display().to_string();
    let variables = [("HOME", home.as_str())];
    let found = |text: &str| with(text, &variables).expect(text).identity.password;
    let password = |text: &str| found(text).reveal().to_owned();
    assert_eq!(password("postgres://me@127.0.0.1/db"), "filed");
    assert_eq!(password("postgres://me:own@127.0.0.1/db"), "own");
    assert_eq!(password("postgres://me@/db?host=/tmp"), "local");
    assert_eq!(password("postgres://me@/db?host=/run/pg"), "");
    allow(0o644);
    let open = with("postgres://me@127.0.0.1/db", &variables).expect("a target");
    assert_eq!(open.identity.password.reveal(), "");
    assert!(open.password_note.expect("why").contains("chmod 600"));
}

#[test]
fn bad_targets_are_told_why_without_their_password() {
    let error = |text: &str| with(text, &[]).expect_err(text).to_string();
    assert!(error("mysql://x").contains("`mysql`"));
    assert!(error("postgres://127.0.0.1/d?sslmod=require").contains("did you mean `sslmode`?"));
    let known = error("postgres://127.0.0.1/d?gssencmod=disable");
    for taken in ["did you mean `gssencmode`?", " password,", " requirepeer,"] {
        assert!(known.contains(taken), "{known}");
    }
    for mysqls in ["get-server-public-key", "server-public-key-path", "enable-cleartext-plugin"] {
        let error = error(&format!("postgres://127.0.0.1/d?{mysqls}=true"));
        assert!(error.contains(&format!("no parameter `{mysqls}`")), "{error}");
    }
    assert!(error("postgres://127.0.0.1/d?sslmode=on").contains("verify-full"));
    assert!(error("postgres://127.0.0.1/d?connect_timeout=soon").contains("500ms"));
    assert!(error("postgres://127.0.0.1/d?sslmode").contains("write sslmode=VALUE"));
    assert!(error("postgres://a,b/d").contains("several hosts"));
    assert!(error("postgres:/x").contains("write postgres://user@host"));
    assert!(error("postgres://me%@h/").contains("no valid user;"));
    for bad in [
        "u:hush/hush@127.0.0.1/d",
        "u:x?hush@h/d",
        "u:hush%@127.0.0.1/",
        "127.0.0.1:hush/d",
        "u@h:0/",
        "u@h/d?password=hush%",
    ] {
        let message = error(&format!("postgres://{bad}"));
        assert!(message.contains("%2F") && !message.contains("hush"), "{message}");
    }
}

#[test]
fn the_server_is_told_how_long_a_statement_may_take() {
    let target = target("postgres://me@127.0.0.1/d");
    let limit = Some(Nanos::from_millis(250));
    let shared = target.shared(&[], StatementProtocol::Text, limit);
    let startup = String::from_utf8_lossy(&shared.startup).into_owned();
    assert!(startup.contains("\0statement_timeout\x00250\0"), "{startup}");
    let sockets = target.sockets(ReconnectPolicy::WhenLost, limit).expect("no TLS is asked for");
    assert_eq!(sockets.statement_timeout, Some(Nanos::from_millis(1250)));
}

#[test]
fn what_other_clients_do_is_done_or_refused_by_name() {
    let bound = |text: &str| target(text).identity.binding;
    assert_eq!(bound("postgres://me@/"), BindingMode::IfOffered);
    assert_eq!(bound("postgres://me@/?channel_binding=require"), BindingMode::Must);
    let set = with("postgres://me@/", &[("PGCHANNELBINDING", "disable")]).expect("a target");
    assert_eq!(set.identity.binding, BindingMode::Never);
    let error =
        |text, variables: &[(&str, &str)]| with(text, variables).expect_err(text).to_string();
    let wrong = error("postgres://me@/?channel_binding=maybe", &[]);
    assert!(wrong.contains("`maybe` is no value for channel_binding"), "{wrong}");
    let plain = target("postgres://me@/?gssencmode=prefer&target_session_attrs=any");
    assert_eq!(plain.url(), target("postgres://me@/").url());
    for (text, name) in [
        ("postgres://me@/?gssencmode=require", "`gssencmode`"),
        ("postgres://me@/?target_session_attrs=read-write", "`target_session_attrs`"),
        ("postgres://me@/?keepalives_idle=long", "`long` is no value for keepalives_idle"),
        ("postgres://me@/?keepalives_count=128", "write a number up to 127"),
        ("postgres://me@/?tcp_user_timeout=3000000000", "milliseconds up to 2147483647"),
        ("postgres://me@/?require_auth=scram", "`scram` is no value for require_auth"),
        ("postgres://me@/?hostaddr=127.0.0.1", "`hostaddr`"),
    ] {
        assert!(error(text, &[]).contains(name), "{text}");
    }
    for (variable, value) in [("PGGSSENCMODE", "require"), ("PGTARGETSESSIONATTRS", "primary")] {
        let error = error("postgres://me@/", &[(variable, value)]);
        assert!(error.contains(&format!("`{variable}`")), "{error}");
    }
    with("postgres://me@/", &[("PGGSSENCMODE", "disable")]).expect("a target");
    let own = "postgres://me@/?target_session_attrs=any&hostaddr=";
    let elsewhere = [("PGTARGETSESSIONATTRS", "primary"), ("PGHOSTADDR", "::1")];
    with(own, &elsewhere).expect("a target has precedence over variables");
}

#[test]
fn a_target_says_which_logins_the_server_may_ask_for() {
    let asked = |text: &str, variables: &[(&str, &str)]| {
        with(text, variables).expect(text).identity.methods.to_string()
    };
    let set = [("PGREQUIREAUTH", "!password,!md5")];
    assert_eq!(asked("postgres://me@/", &set), "!password,!md5");
    assert_eq!(asked("postgres://me@/?require_auth=scram-sha-256", &set), "scram-sha-256");
    assert_eq!(asked("user=me require_auth=none,md5", &[]), "none,md5");
    // As for libpq: it is given, and asks for nothing.
    assert_eq!(asked("postgres://me@/?require_auth=", &set), "");
    let kept = target("postgres://me@127.0.0.1/?require_auth=scram-sha-256");
    assert!(kept.url().ends_with("?require_auth=scram-sha-256"), "{}", kept.url());
}

#[test]
fn a_target_says_how_long_silence_is_borne() {
    let of = |text: &str| {
        let sockets = target(text).sockets(ReconnectPolicy::WhenLost, None);
        sockets.expect("no TLS is asked for").keepalive
    };
    assert_eq!(of("postgres://me@127.0.0.1/"), TcpKeepalive::default());
    assert!(TcpKeepalive::default().is_on, "as for libpq");
    let text = "postgres://me@127.0.0.1/?keepalives_idle=30&keepalives_interval=5\
                &keepalives_count=3&tcp_user_timeout=9000";
    let asked = TcpKeepalive {
        is_on: true,
        idle_s: Some(30),
        interval_s: Some(5),
        count: Some(3),
        user_timeout_ms: Some(9000),
    };
    assert_eq!(of(text), asked);
    assert_eq!(of(&target(text).url()), asked, "records have it too");
    let off = of("host=127.0.0.1 user=me keepalives=0 keepalives_idle=0 tcp_user_timeout=-1");
    assert_eq!(off, TcpKeepalive { is_on: false, ..TcpKeepalive::default() });
}

#[test]
fn a_connection_string_names_what_a_url_does() {
    let named = target(r"host=127.0.0.1 port=5433 dbname='sh op' user=al\ ice password='it\'s'");
    assert_eq!(named.url(), "postgres://al%20ice@127.0.0.1:5433/sh%20op");
    assert_eq!(named.identity.password.reveal(), "it's");
    let twice = target("host=127.0.0.1 host=127.0.0.2 user=me sslmode=disable");
    assert_eq!(twice.url(), "postgres://me@127.0.0.2:5432/me?sslmode=disable");
    let error = |text: &str| with(text, &[]).expect_err(text).to_string();
    assert!(error("host=h sslmod=x").contains("did you mean `sslmode`?"));
    assert!(error("host=h gssencmode=require").contains("`gssencmode`"));
    assert!(error("host=h dbname").contains("a word without `=`"));
    assert!(error("host='h").contains("an unclosed quote"));
}

#[test]
fn authorities_that_are_named_are_looked_at() {
    let of = |more: &str| with(&format!("postgres://me@127.0.0.1/?{more}"), &[]);
    let system = of("sslrootcert=system").expect("a target");
    assert_eq!((system.ssl_mode, system.tls_files), (TlsMode::VerifyFull, TlsFiles::default()));
    assert!(of("sslrootcert=system&sslmode=verify-full").is_ok());
    let of_file = |mode: &str| of(&format!("sslmode={mode}&sslrootcert=/ca")).expect(mode);
    assert_eq!(of_file("require").ssl_mode, TlsMode::VerifyCa, "as libpq has it");
    assert_eq!(of_file("prefer").ssl_mode, TlsMode::Preferred);
    assert_eq!(of("sslmode=require").expect("a target").ssl_mode, TlsMode::Required);
    let weak = of("sslrootcert=system&sslmode=require").expect_err("refused").to_string();
    assert!(weak.contains("sslmode=verify-full beside it"), "{weak}");
}

#[test]
fn a_certificate_without_a_key_is_named_as_it_was_given() {
    let error =
        |text, variables: &[(&str, &str)]| with(text, variables).expect_err(text).to_string();
    let given = error("postgres://me@/?sslcert=/c", &[]);
    assert!(given.starts_with("`sslcert` needs `sslkey` too"), "{given}");
    let set = error("postgres://me@/", &[("PGSSLCERT", "/c")]);
    assert!(set.starts_with("`PGSSLCERT` needs `PGSSLKEY` too"), "{set}");
    let key = error("postgres://me@/", &[("PGSSLKEY", "/k")]);
    assert!(key.starts_with("`PGSSLKEY` needs `PGSSLCERT` too"), "{key}");
}
