//! The report in headless Chromium.
//!
//! A copy of the page gets two more scripts: the first collects errors, the last inspects every figure, moves a
//! pointer over it and toggles its switch. Their findings are read from the document that the browser prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::scratch::Scratch;

const COLLECT_ERRORS: &str = "<script>
    window.errors = [];
    addEventListener('error', event => errors.push(String(event.message)));
    for (const kind of ['error', 'warn']) console[kind] = (...words) => errors.push(words.join(' '));
</script>";

const LOOK: &str = "<script>
    const box = document.getElementById('value');
    const visible = (section, part) => [...section.querySelectorAll(part)].filter(e => e.offsetParent)[0];
    const figures = [...document.querySelectorAll('section.figure')].map(section => {
        const svg = visible(section, 'div').querySelector('svg');
        const frame = svg.getBoundingClientRect();
        if (!section.querySelector('.switch')) return {id: section.id};
        const marks = svg.querySelectorAll('g[clip-path] > *');
        const hollow = [...svg.querySelectorAll('g[clip-path] > .hollow')];
        const mark = (hollow.at(-1) ?? [...marks].at(-1)).getBoundingClientRect();
        svg.dispatchEvent(new PointerEvent('pointermove', {
            clientX: mark.left + mark.width / 2, clientY: mark.top + mark.height / 2, bubbles: true,
        }));
        const value = box.hidden ? '' : box.textContent;
        svg.dispatchEvent(new PointerEvent('pointerleave'));
        const before = visible(section, '.wide');
        section.querySelector('.switch').click();
        const switched = box.hidden && visible(section, '.wide') !== before;
        return {id: section.id, width: frame.width, height: frame.height, marks: marks.length, value, switched};
    });
    const seen = document.createElement('pre');
    seen.id = 'seen';
    seen.textContent = encodeURIComponent(JSON.stringify({errors, figures}));
    document.body.append(seen);
</script>";

/// A browser's view of a page: `errors`, and for every figure its size, marks, hover value and switch.
pub(crate) fn look_at(page: &Path) -> Value {
    let name = page.parent().and_then(Path::file_name).unwrap().to_string_lossy();
    let scratch = Scratch::new(&format!("browser-{name}"));
    let copy = scratch.path().join("page.html");
    let html = fs::read_to_string(page).unwrap();
    let html = html.replacen("<head>", &format!("<head>{COLLECT_ERRORS}"), 1);
    fs::write(&copy, html.replacen("</body>", &format!("{LOOK}</body>"), 1)).unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=1000,900", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", scratch.path().join("profile").display()))
        .arg(format!("file://{}", copy.display()))
        .output()
        .unwrap_or_else(|error| panic!("cannot run chromium ({error}): apt-get install chromium"));
    let (document, log) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!log.contains(":CONSOLE"), "the browser's console says: {log}");
    let seen = document.rsplit_once("<pre id=\"seen\">").and_then(|(_, rest)| rest.split_once('<'));
    let (seen, _) = seen.unwrap_or_else(|| panic!("the page did not run its scripts: {log}"));
    serde_json::from_slice(&decoded(seen)).unwrap()
}

/// Undoes `encodeURIComponent`.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let digits: String = rest.by_ref().take(2).map(char::from).collect();
            u8::from_str_radix(&digits, 16).unwrap()
        } else {
            byte
        });
    }
    bytes
}

#[test]
#[should_panic(expected = "the browser's console says")]
fn a_page_with_an_error_is_noticed() {
    let scratch = Scratch::new("broken-page");
    let page = scratch.path().join("index.html");
    fs::write(&page, "<head></head><body><script>no_such_function()</script></body>").unwrap();
    look_at(&page);
}
