"""The stubs fit the compiled module, every public item has docs, and what the documentation shows is so."""

import inspect
import pathlib
import subprocess
import sys

import pytest

import equibloom

HERE = pathlib.Path(__file__).parents[1]


def test_the_stubs_are_those_of_the_module():
    """mypy's stubtest compares names and signatures."""
    command = [sys.executable, "-m", "mypy.stubtest", "equibloom._equibloom", "--concise"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_are_checked_where_the_package_is_used(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "from equibloom import Filter, GrowingFilter, plan\n"
        "seen = Filter(keys=1_000, rate=0.01) | Filter.from_keys([1])\n"
        "found: bool = 5 in seen\n"
        "answers = seen.contains(np.arange(5)).any()\n"
        "size: int = plan(keys=1e6, rate=0.01).nbytes + len(GrowingFilter())\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    program.write_text(program.read_text() + "seen.add(1).nothing\nFilter(kes=5)\n")
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "Found 2 errors" in result.stdout, result.stdout


@pytest.mark.parametrize("name", equibloom.__all__)
def test_every_public_item_has_docs(name):
    item = getattr(equibloom, name)
    if not isinstance(item, str):
        assert len(inspect.getdoc(item)) > 20
    if inspect.isclass(item) and not issubclass(item, Exception):
        for member, value in vars(item).items():
            if not member.startswith("_"):
                assert len(inspect.getdoc(value) or "") > 10, f"{name}.{member}"


def test_examples_of_the_compiled_module():
    import doctest

    from equibloom import _equibloom

    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tried = 0
    items = [equibloom.plan, *(vars(equibloom)[name] for name in equibloom.__all__ if inspect.isclass(vars(equibloom)[name]))]
    for item in items:
        # A compiled module has no source to find its examples by: each text is a test of its own.
        members = [item, *(value for member, value in vars(item).items() if not member.startswith("_"))] if inspect.isclass(item) else [item]
        for member in members:
            text = inspect.getdoc(member) or ""
            for test in [doctest.DocTestParser().get_doctest(text, {}, str(member), None, 0)]:
                tried += runner.run(test).attempted
    assert runner.failures == 0 and tried > 10
    assert finder and _equibloom


def test_the_package_has_a_version_and_a_readable_plan():
    assert equibloom.__version__.count(".") == 2
    plan = equibloom.plan(keys=1_000_000, rate=0.001)
    assert "for 1000000 keys" in repr(plan) and "bits per key" in repr(plan)
    html = plan._repr_html_()
    assert "<svg" in html and html.count("<li>") > 4 and "1,000,000" in html
    assert plan.reasons and plan.alternatives()


@pytest.mark.parametrize("other", [{}, {"removable": True}, {"headroom": 0.5}, {"accesses_miss": 1.05}])
def test_the_picture_of_a_plan_is_of_filters_of_its_kind(other):
    plan = equibloom.plan(keys=100_000, rate=0.001, **other)
    assert plan._rate_at(plan.bits_per_key) == pytest.approx(plan.rate, rel=0.05)
    assert plan._rate_at(2 * plan.bits_per_key) < plan.rate / 100
    assert "<polyline" in plan._repr_html_()


def test_the_tutorial_runs():
    nbformat = pytest.importorskip("nbformat")
    from nbclient import NotebookClient

    notebook = nbformat.read(HERE / "docs" / "tutorial.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
