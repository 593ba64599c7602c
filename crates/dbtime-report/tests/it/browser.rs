//! The pages in a real browser: drawn in light and dark, on a desk and on a phone, with scripts on
//! and off, without a request or a word on the console.
//!
//! Needs Chromium (on Debian: `apt-get install chromium`), found on the PATH or named by the
//! environment variable `CHROMIUM`.
//! Without it the tests pass and say loudly that they did not run; with `CI=true` they fail.
#![allow(clippy::print_stderr, reason = "a test that could not run must say so")]

use crate::fixtures;
use dbtime_model::record::Run;
use dbtime_report::{compare, html};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The browser, if there is one; a missing one is an error only where it must not be missing.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let on_path = || {
        let folders: Vec<_> = std::env::split_paths(&path).collect();
        let all = folders.into_iter().flat_map(|folder| names.map(|name| folder.join(name)));
        all.into_iter().find(|file| file.is_file())
    };
    let found = named.or_else(on_path);
    if found.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "CI=true, and there is no Chromium: install it (Debian: apt-get install chromium)"
        );
        eprintln!(
            "\n*** NOT RUN: no Chromium was found, the pages were not drawn by a browser. ***\n"
        );
    }
    found
}

/// What a browser did with a page.
struct Visit {
    /// The page after it was loaded.
    dom: String,
    /// Lines of the console.
    console: Vec<String>,
    /// What the page asked the network for.
    requests: Vec<String>,
}

/// A folder with a page, and the browser to open it with.
struct Browser {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Browser {
    fn new(program: PathBuf) -> Self {
        Self { program, folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// Starts the browser on a page with further options and waits until it has ended.
    fn start(&self, page: &str, options: &[String]) -> (String, String) {
        let at = |name: &str| self.folder.path().join(name);
        fs::write(at("page.html"), page).expect("writing the page");
        // An empty profile each time: nothing learnt from one page can help another.
        let profile = tempfile::tempdir().expect("a profile");
        let mut child = Command::new(&self.program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--hide-scrollbars"])
            .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--v=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--log-net-log={}", at("net.json").display()))
            .args(options)
            .arg(format!("file://{}", at("page.html").display()))
            .stdin(Stdio::null())
            .stdout(File::create(at("out")).expect("a file"))
            .stderr(File::create(at("err")).expect("a file"))
            .spawn()
            .expect("starting Chromium");
        let deadline = Instant::now() + Duration::from_secs(150);
        let status = loop {
            if let Some(status) = child.try_wait().expect("waiting for Chromium") {
                break status;
            }
            if Instant::now() > deadline {
                child.kill().expect("ending Chromium");
                panic!("Chromium did not end within 150 s");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let read =
            |name: &str| String::from_utf8_lossy(&fs::read(at(name)).expect(name)).into_owned();
        assert!(status.success(), "Chromium: {status}\n{}", read("err"));
        (read("out"), read("err"))
    }

    fn visit(&self, page: &str, options: &[&str]) -> Visit {
        let mut all = vec!["--dump-dom".to_owned()];
        all.extend(options.iter().map(|option| (*option).to_owned()));
        let (dom, log) = self.start(page, &all);
        let console =
            log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
        let net = fs::read_to_string(self.folder.path().join("net.json")).expect("a network log");
        let urls = net.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        // The browser itself calls home; its own hosts are not the page's doing.
        let own = |url: &str| {
            ["google.com/", "googleapis.com/", "gvt1.com/"].iter().any(|h| url.contains(h))
        };
        let requests =
            urls.filter(|url| url.starts_with("http") && !own(url)).map(str::to_owned).collect();
        Visit { dom, console, requests }
    }

    /// The page as a picture, with `more` settings of the rendering engine.
    fn picture(&self, page: &str, width: u32, dark: bool, more: &[&str]) -> Vec<u8> {
        let file = self.folder.path().join("page.png");
        let scheme = u8::from(!dark);
        let settings = format!("--blink-settings=preferredColorScheme={scheme}");
        let options = [
            more.iter().fold(settings, |all, setting| format!("{all},{setting}")),
            format!("--window-size={width},2000"),
            format!("--screenshot={}", file.display()),
        ];
        self.start(page, &options);
        fs::read(&file).expect("a picture")
    }
}

/// The width that stands in the header of a PNG.
fn png_width(picture: &[u8]) -> u32 {
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    u32::from_be_bytes(picture[16..20].try_into().expect("four bytes"))
}

const NO_SCRIPTS: &str = "scriptEnabled=false";

#[test]
fn pages_are_quiet_and_complete_with_and_without_scripts() {
    let Some(program) = chromium() else { return };
    let browser = Browser::new(program);
    let cases: [(&str, Run, &[&str]); 5] = [
        (
            "open",
            fixtures::open(),
            &["sync", "8,226/s", "5.43 ms", "Response distribution", "withdraw"],
        ),
        (
            "closed",
            fixtures::closed(),
            &["closed loop: measured from the instant the client was ready"],
        ),
        ("client-limited", fixtures::client_limited(), &["NOT VALID", "client-limited"]),
        ("hostile", fixtures::hostile(), &["&lt;script&gt;alert(1)"]),
        ("empty", Run::default(), &["not measured", "unnamed workload"]),
    ];
    for (name, run, expected) in cases {
        let page = html::report(&run);
        let with = browser.visit(&page, &[]);
        assert_eq!(with.console, Vec::<String>::new(), "{name}");
        assert_eq!(with.requests, Vec::<String>::new(), "{name}");
        for text in expected {
            assert!(with.dom.contains(text), "{name}: no {text}");
        }
        let has_own = !run.transactions.is_empty();
        assert_eq!(with.dom.matches("<script").count(), usize::from(has_own), "{name}");
        if has_own {
            // Without scripts Chromium dumps no DOM, but it draws.
            let [drawn, scriptless] = [&[][..], &[NO_SCRIPTS][..]]
                .map(|options| browser.picture(&page, 1280, false, options));
            assert_eq!(drawn, scriptless, "{name}: scripts change the page");
        }
    }
}

/// Opens the first transaction, widens its timeline and says in the title what became of it.
const OPEN_AND_ZOOM: &str = "<script>
addEventListener('load', () => {
  const tx = document.querySelector('details.tx');
  tx.addEventListener('toggle', () => setTimeout(() => {
    const plot = tx.querySelector('.timeline');
    const first = plot.querySelector('.instants').textContent;
    const before = plot.querySelector('.moment').getAttribute('width');
    tx.querySelector('.zoom button').click();
    tx.querySelector('.zoom button').click();
    const after = plot.querySelector('.moment').getAttribute('width');
    const ticks = plot.querySelector('.instants').textContent !== first;
    document.title = ['zoomed', before, after, ticks, plot.dataset.zoom].join(' ');
  }, 0));
  tx.querySelector('summary').click();
});
</script></body>";

#[test]
fn an_opened_transaction_can_be_zoomed() {
    let Some(program) = chromium() else { return };
    let browser = Browser::new(program);
    let page = html::report(&fixtures::closed());
    let driver = page.replace("</body>", OPEN_AND_ZOOM);
    // The page's own policy lets no other script run.
    let held = browser.visit(&driver, &["--virtual-time-budget=2000"]);
    assert!(held.console.iter().any(|line| line.contains("Content Security Policy")));
    assert!(!held.dom.contains("<title>zoomed"));
    let policy = driver.find("<meta http-equiv").expect("a policy");
    let end = policy + driver[policy..].find("/>").expect("its end") + 2;
    let free = format!("{}{}", &driver[..policy], &driver[end..]);
    let visit = browser.visit(&free, &["--virtual-time-budget=2000"]);
    assert_eq!(title(&visit.dom), "zoomed 100% 400% true 4.00");
    assert_eq!(visit.console, Vec::<String>::new());
}

#[test]
fn a_noisy_page_would_be_noticed() {
    let Some(program) = chromium() else { return };
    let noisy = "<!DOCTYPE html><img src=\"http://127.0.0.1:9/x.png\">\
        <script>console.log('hello')</script>";
    let visit = Browser::new(program).visit(noisy, &[]);
    assert!(visit.console.iter().any(|line| line.contains("hello")), "{:?}", visit.console);
    assert!(
        visit.requests.iter().any(|url| url.contains("127.0.0.1:9/x.png")),
        "{:?}",
        visit.requests
    );
}

#[test]
fn the_page_of_a_study_is_drawn_without_a_request() {
    let Some(program) = chromium() else { return };
    let browser = Browser::new(program);
    let study = fixtures::study::study(&fixtures::open().record);
    let page = compare::study_document(&compare::StudyComparison::of(&study)).html();
    let visit = browser.visit(&page, &[]);
    assert_eq!((visit.console, visit.requests), (Vec::new(), Vec::new()));
    for text in ["lazy faster than durable", "A/A control", "Which responses changed"] {
        assert!(visit.dom.contains(text), "no {text}");
    }
    for width in [1280, 390] {
        let [light, dark] = [false, true].map(|dark| browser.picture(&page, width, dark, &[]));
        assert!(light != dark && light.len() > 40_000, "{}", light.len());
        keep(&light, &format!("study-{width}-light.png"));
        keep(&dark, &format!("study-{width}-dark.png"));
    }
}

#[test]
fn pages_are_drawn_in_light_and_dark_at_every_width() {
    let Some(program) = chromium() else { return };
    let browser = Browser::new(program);
    let page = html::report(&fixtures::open());
    for width in [1280, 390] {
        let [light, dark] = [false, true].map(|dark| browser.picture(&page, width, dark, &[]));
        assert_eq!((png_width(&light), png_width(&dark)), (width, width));
        assert_ne!(light, dark, "no dark page at {width}");
        // A blank page of this size packs into a few KB.
        assert!(light.len() > 40_000 && dark.len() > 40_000, "{} {}", light.len(), dark.len());
        keep(&light, &format!("open-{width}-light.png"));
        keep(&dark, &format!("open-{width}-dark.png"));
    }
}

/// Where `DBTIME_SCREENSHOTS` names a folder, the pictures stay there to be looked at.
fn keep(picture: &[u8], name: &str) {
    if let Some(folder) = std::env::var_os("DBTIME_SCREENSHOTS") {
        fs::write(Path::new(&folder).join(name), picture).expect("keeping a picture");
    }
}

/// Writes what sticks out of the page or of a drawing into the title.
const PROBE: &str = "<script>
const out = [];
const wide = document.documentElement.scrollWidth;
if (wide &gt; innerWidth) out.push('page ' + wide);
for (const svg of document.querySelectorAll('svg.chart')) {
  const box = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll('text')) {
    const r = text.getBoundingClientRect();
    if (r.left &lt; box.left - 1 || r.right &gt; box.right + 1) out.push(text.textContent);
  }
}
for (const svg of document.querySelectorAll('svg.bar svg')) {
  const box = svg.querySelector('rect').getBoundingClientRect();
  for (const text of svg.querySelectorAll('text')) {
    if (getComputedStyle(text).display === 'none') continue;
    if (text.getBoundingClientRect().right &gt; box.right + 1) out.push(text.textContent);
  }
}
document.title = 'sticks out: ' + out.join('; ') + '.';
</script></body>";

#[test]
fn nothing_sticks_out_of_its_drawing_or_of_the_page() {
    let Some(program) = chromium() else { return };
    let browser = Browser::new(program);
    let cases: [(&str, Run, &[u32]); 3] = [
        ("open", fixtures::open(), &[1280, 390]),
        ("closed", fixtures::closed(), &[390]),
        ("extreme", fixtures::extreme(), &[1280, 800, 390]),
    ];
    for (name, run, widths) in cases {
        let page = html::report(&run);
        // Only this copy may run a script.
        let policy = page.find("<meta http-equiv").expect("a policy");
        let end = policy + page[policy..].find("/>").expect("its end") + 2;
        let probe = PROBE.replace("&lt;", "<").replace("&gt;", ">");
        let probed = format!("{}{}", &page[..policy], &page[end..]).replace("</body>", &probe);
        for width in widths {
            let visit = browser.visit(&probed, &[&format!("--window-size={width},2000")]);
            assert!(
                visit.dom.contains("<title>sticks out: .</title>"),
                "{name} at {width}: {}",
                title(&visit.dom)
            );
        }
    }
}

fn title(dom: &str) -> &str {
    dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).unwrap_or_default()
}
