//! `equibloom reproduce` as a process.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod browser;
mod scratch;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use scratch::Scratch;
use serde_json::Value;

const FIGURES: [&str; 34] = [
    "balanced-fig-1",
    "balanced-fig-2",
    "balanced-fig-3a",
    "balanced-fig-3b",
    "balanced-fig-4",
    "balanced-fig-5",
    "energy-fig-1",
    "energy-fig-2",
    "energy-fig-3",
    "energy-fig-4",
    "energy-fig-5",
    "energy-fig-6",
    "energy-variance",
    "energy-query-time",
    "alpha-fig-1",
    "alpha-fig-2",
    "alpha-fig-3",
    "alpha-fig-4",
    "alpha-max-load",
    "alpha-lemma-6-1",
    "slides-rate",
    "slides-k",
    "slides-emails",
    "fill",
    "accesses",
    "finite",
    "cuckoo-graph",
    "cuckoo-load",
    "slides-rehash",
    "slides-example",
    "slides-cycle",
    "table-variance",
    "table-lines",
    "beyond",
];

/// Figures that show the steps of an example instead of curves.
const DRAWN: [&str; 4] = ["balanced-fig-1", "energy-fig-5", "slides-example", "slides-cycle"];

fn command(out: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equibloom"));
    command.args(["reproduce", "--quick", "--out"]).arg(out).args(arguments);
    command
}

fn reproduce(out: &Path, arguments: &[&str]) -> Output {
    command(out, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// All figures in quick length, made once for all tests.
fn whole_run() -> &'static (Scratch, Output) {
    static RUN: OnceLock<(Scratch, Output)> = OnceLock::new();
    RUN.get_or_init(|| {
        let scratch = Scratch::new("whole");
        let output = reproduce(scratch.path(), &[]);
        (scratch, output)
    })
}

#[test]
fn every_claim_of_every_figure_agrees() {
    let (directory, output) = whole_run();
    let table = text(&output.stdout);
    assert!(output.status.success(), "{table}\n{}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "no progress bar in a pipe");
    for id in FIGURES {
        assert!(table.lines().any(|line| line.contains(&format!(" {id} "))), "{id} in {table}");
    }
    for column in ["figure", "kind", "claim", "measured", "agrees"] {
        assert!(table.lines().next().unwrap().contains(column), "{table}");
    }
    let results = json(directory.path().join("results.json"));
    for figure in results["figures"].as_array().unwrap() {
        for claim in figure["claims"].as_array().unwrap() {
            let known = claim["reason"].is_string();
            assert!(claim["agrees"] == true || known, "{}: {claim}", figure["id"]);
            // Only what stands in a paper can be known to be wrong, and its erratum says why.
            if known {
                assert!(claim["kind"] == "printed", "{claim}");
                assert!(claim["reason"].as_str().unwrap().starts_with("erratum "), "{claim}");
                continue;
            }
            let number = |field: &str| claim[field].as_f64().unwrap();
            let off = (number("measured") - number("expected")).abs();
            assert!(off <= number("tolerance") * (1.0 + 1e-6), "{claim}");
            assert!(claim["text"].as_str().unwrap().len() > 5, "{claim}");
        }
    }
}

#[test]
fn results_have_every_figure_with_models_simulations_and_filters() {
    let (directory, _) = whole_run();
    let results = json(directory.path().join("results.json"));
    let figures = results["figures"].as_array().unwrap();
    let ids: Vec<&str> = figures.iter().map(|figure| figure["id"].as_str().unwrap()).collect();
    assert_eq!(ids, FIGURES);
    for figure in figures.iter().filter(|figure| !DRAWN.contains(&figure["id"].as_str().unwrap())) {
        let series = figure["series"].as_array().unwrap();
        // Filters beyond the papers are simulated in the tests of the theory, not here.
        let simulated = figure["id"] != "beyond";
        for kind in ["model", "simulation", "filter"]
            .into_iter()
            .filter(|kind| simulated || *kind != "simulation")
        {
            assert!(series.iter().any(|series| series["kind"] == kind), "{}: {kind}", figure["id"]);
        }
        for series in series {
            let (x, y) = (series["x"].as_array().unwrap(), series["y"].as_array().unwrap());
            assert!(!x.is_empty() && x.len() == y.len(), "{}: {}", figure["id"], series["name"]);
            assert!(x.iter().chain(y).all(Value::is_number), "{}", series["name"]);
        }
        let mut names: Vec<&str> =
            series.iter().map(|series| series["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}

#[test]
fn every_figure_is_there_as_svg_csv_and_json() {
    let (directory, _) = whole_run();
    for id in FIGURES {
        let read =
            |kind| fs::read_to_string(directory.path().join(format!("{id}.{kind}"))).unwrap();
        let svg = read("svg");
        assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf "), "{id}");
        let csv = read("csv");
        assert!(
            csv.starts_with("series,kind,panel,x,y,sigma\n")
                && (DRAWN.contains(&id) || csv.lines().count() > 10)
        );
        let figure: Value = serde_json::from_str(&read("json")).unwrap();
        assert_eq!(figure["figure"]["id"], id);
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3 * FIGURES.len() + 2);
}

#[test]
fn the_page_needs_nothing_from_outside_and_says_how_it_was_made() {
    let (directory, _) = whole_run();
    let page = fs::read_to_string(directory.path().join("index.html")).unwrap();
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http:") && !outside.contains("https:") && !outside.contains("src="));
    for part in [
        "reproduce --quick",
        "printed (7 in the errata)",
        "derived,",
        "consistency.",
        "kind-printed",
        "Seed",
        "Machine",
        "Contents",
        "(erratum 9)",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_page_works_in_a_browser() {
    let (directory, _) = whole_run();
    let seen = browser::look_at(&directory.path().join("index.html"));
    assert_eq!(seen["errors"], Value::Array(Vec::new()));
    let figures = seen["figures"].as_array().unwrap();
    let ids: Vec<&str> = figures.iter().map(|figure| figure["id"].as_str().unwrap()).collect();
    assert_eq!(ids, FIGURES);
    for figure in figures.iter().filter(|figure| !DRAWN.contains(&figure["id"].as_str().unwrap())) {
        assert!(figure["width"].as_f64().unwrap() > 300.0, "{figure}");
        assert!(figure["height"].as_f64().unwrap() > 200.0, "{figure}");
        assert!(figure["marks"].as_u64().unwrap() > 5, "{figure}");
        let value = figure["value"].as_str().unwrap();
        assert!(value.lines().count() == 3 && value.contains(char::is_numeric), "{figure}");
        assert_eq!(figure["switched"], true, "{figure}");
    }
}

/// The README shows figures drawn by this command: same axes, legend and text as it draws now.
#[test]
fn the_figures_of_the_readme_are_up_to_date() {
    let (directory, _) = whole_run();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
    let words = |path: PathBuf| -> Vec<String> {
        let svg = fs::read_to_string(path).unwrap();
        let texts = svg.split("<text").skip(1);
        texts.map(|text| text.split(['>', '<']).nth(1).unwrap().to_owned()).collect()
    };
    for name in ["beyond.svg", "balanced-fig-4.svg", "accesses.svg"] {
        assert_eq!(words(committed.join(name)), words(directory.path().join(name)), "{name}");
    }
}

#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    let scratch = Scratch::new("interrupted");
    let arguments = ["--figure", "balanced-fig-5", "--figure", "alpha-fig-2"];
    let finished = scratch.path().join("balanced-fig-5.json");
    let mut child = command(scratch.path(), &arguments).spawn().unwrap();
    let start = Instant::now();
    while !finished.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "the first figure never came");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!scratch.path().join("alpha-fig-2.json").exists(), "killed too late");

    let before = fs::metadata(&finished).unwrap().modified().unwrap();
    let output = reproduce(scratch.path(), &arguments[..2]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::metadata(&finished).unwrap().modified().unwrap(), before, "made again");
    // Another seed is another run.
    let output = reproduce(scratch.path(), &["--figure", "balanced-fig-5", "--seed", "2"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_ne!(fs::metadata(&finished).unwrap().modified().unwrap(), before);
}

#[test]
fn a_claim_that_does_not_hold_gives_exit_code_1() {
    let scratch = Scratch::new("disagreeing");
    let arguments = ["--figure", "energy-fig-2"];
    assert_eq!(reproduce(scratch.path(), &arguments).status.code(), Some(0));
    // A finished figure is not made again, so a claim can be made to fail.
    let path = scratch.path().join("energy-fig-2.json");
    let finished = fs::read_to_string(&path).unwrap();
    fs::write(&path, finished.replacen("\"agrees\":true", "\"agrees\":false", 1)).unwrap();
    let output = reproduce(scratch.path(), &arguments);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains(" NO"));
    let page = fs::read_to_string(scratch.path().join("index.html")).unwrap();
    assert!(page.contains(">disagrees<"));
    // A damaged file counts as missing.
    fs::write(&path, &finished[..finished.len() / 2]).unwrap();
    assert_eq!(reproduce(scratch.path(), &arguments).status.code(), Some(0));
}

fn refused(output: &Output, expected: &str) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(expected), "«{message}» does not say «{expected}»");
    assert!(output.stdout.is_empty() && !message.contains("panicked"), "{message}");
}

#[test]
fn an_unknown_figure_is_answered_with_the_list() {
    let scratch = Scratch::new("unknown");
    let output = reproduce(scratch.path(), &["--figure", "fig-99"]);
    refused(&output, "there is no figure `fig-99`");
    for id in FIGURES {
        assert!(text(&output.stderr).contains(id), "{id}");
    }
    refused(&reproduce(scratch.path(), &["--full"]), "cannot be used with");
    refused(&reproduce(scratch.path(), &["--seed", "x"]), "--seed");
}

#[test]
fn the_list_names_every_figure() {
    let output = reproduce(Path::new("/nonexistent"), &["--list"]);
    assert!(output.status.success());
    let list = text(&output.stdout);
    assert_eq!(list.lines().count(), FIGURES.len(), "{list}");
    for (line, id) in list.lines().zip(FIGURES) {
        assert_eq!(line.split_whitespace().next(), Some(id));
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let scratch = Scratch::new("unwritable");
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    for directory in [file.join("report"), file.clone(), PathBuf::from("/proc/equibloom")] {
        let output = reproduce(&directory, &["--figure", "balanced-fig-5"]);
        refused(&output, &format!("cannot write {}", directory.display()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let scratch = Scratch::new("full-disk");
    let first = ["--figure", "balanced-fig-5"];
    assert!(reproduce(scratch.path(), &first).status.success());
    // Writes to /dev/full find no space left.
    let part = scratch.path().join("energy-fig-2.csv.part");
    std::os::unix::fs::symlink("/dev/full", &part).unwrap();
    let output = reproduce(scratch.path(), &["--figure", "energy-fig-2"]);
    refused(
        &output,
        &format!("cannot write {}", scratch.path().join("energy-fig-2.csv").display()),
    );
    refused(&output, "No space left");
    assert!(!scratch.path().join("energy-fig-2.json").exists());
    let results = json(scratch.path().join("results.json"));
    assert_eq!(results["figures"][0]["id"], "balanced-fig-5");
    assert!(fs::read_to_string(scratch.path().join("index.html")).unwrap().contains("Fig. 5"));
}
