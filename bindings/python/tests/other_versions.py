"""Runs the tests that need NumPy alone with other versions of Python: the oldest and the newest on this machine, and one without
the interpreter's lock, if there are such.

    python tests/other_versions.py WHEEL DIRECTORY

installs the wheel in environments in the directory. An interpreter without the lock gets a wheel of its own: the stable
interface has none for it before Python 3.15, and pyo3 supports it from 3.14 on.
"""

import glob
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TESTS = ["test_versions.py", "test_files.py", "test_sets.py", "test_growing.py", "test_threads.py"]
OLDEST = 9
OLDEST_FREE_THREADED = 14


def interpreters():
    """Programs by version and whether they are free-threaded."""
    directories = [*os.get_exec_path(), *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin"))]
    found = {}
    for directory in directories:
        for program in glob.glob(os.path.join(directory, "python3.*")):
            if not re.fullmatch(r"python3\.\d+t?", os.path.basename(program)):
                continue
            ask = "import sys, sysconfig, venv; print(sys.version_info[1], int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))"
            answer = subprocess.run([program, "-c", ask], capture_output=True, text=True)
            if answer.returncode == 0:
                version, is_free = map(int, answer.stdout.split())
                found.setdefault((version, bool(is_free)), program)
    return found


def chosen(found):
    """The oldest and the newest with the lock, but for this one, and the newest without."""
    usual = sorted(version for version, is_free in found if not is_free and version >= OLDEST)
    versions = [(version, False) for version in {*usual[:1], *usual[-1:]} if version != sys.version_info[1]]
    return versions + sorted(key for key in found if key[1] and key[0] >= OLDEST_FREE_THREADED)[-1:]


def test(program, version, is_free, wheel, directory):
    environment = directory / f"python-3.{version}{'t' * is_free}"
    subprocess.run([program, "-m", "venv", "--clear", environment], check=True)
    python = environment / "bin" / "python"
    quiet = ["--quiet", "--disable-pip-version-check"]
    if is_free:
        wheels = directory / "wheels-free-threaded"
        command = [sys.executable, "-m", "maturin", "build", "--quiet", "--release", "--locked", "--interpreter", python]
        variables = {**os.environ, "CARGO_TARGET_DIR": str(directory / "python-build")}
        subprocess.run([*command, "--manifest-path", HERE.parent / "Cargo.toml", "--out", wheels], env=variables, check=True)
        (wheel,) = wheels.glob(f"*-cp3{version}t-*.whl")
    subprocess.run([python, "-m", "pip", "install", *quiet, "numpy", "pytest", wheel], check=True)
    subprocess.run([python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *TESTS], cwd=HERE, check=True)


def main(wheel, directory):
    found = interpreters()
    for version, is_free in chosen(found):
        print(f"Python 3.{version}{', free-threaded' * is_free}", flush=True)
        test(found[version, is_free], version, is_free, pathlib.Path(wheel).resolve(), pathlib.Path(directory).resolve())
    if not chosen(found):
        print("There is no other version of Python on this machine.")


if __name__ == "__main__":
    main(*sys.argv[1:])
