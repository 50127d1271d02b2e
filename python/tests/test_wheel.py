"""The wheel: its structure, its bytes, an installation without network, and its removal without a trace."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bnctl import _binary
from conftest import SOURCE

PROGRAMS = ["bnctl", "bnctl-device-cuda", "bnctl-device-opencl", "bnctl-fabric-mpi"]
MACHINE = {"x86_64": "x86_64", "aarch64": "aarch64"}[os.uname().machine]


def build(output: "str | Path", platform: str, programs: "list[str]", version: str = "0.1.0") -> Path:
    """Build a wheel of the programs of bin."""
    Path(output).mkdir(exist_ok=True)
    licences = Path(output, "licences")
    licences.write_text("licence\n" * 200)
    done = subprocess.run([sys.executable, str(SOURCE / "wheel.py"), "--version", version, "--platform", platform,
                           "--licences", str(licences), "--output", str(output), *programs], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def programs() -> "list[str]":
    """The programs of make build."""
    folder = Path(_binary.find()).parent
    missing = [p for p in PROGRAMS if not (folder / p).exists()]
    if missing:
        pytest.fail(f"{', '.join(missing)} are not in {folder}: make build")
    return [str(folder / p) for p in PROGRAMS]


def checked(path: Path) -> "subprocess.CompletedProcess[str]":
    """Return the findings of checkwheel.py."""
    return subprocess.run([sys.executable, str(SOURCE / "checkwheel.py"), str(path)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> "list[str]":
    """The first 64 KiB of each program, which say for what system it is: their wheels are made in no time."""
    folder = tmp_path_factory.mktemp("heads")
    for program in programs():
        with open(program, "rb") as whole:
            (folder / Path(program).name).write_bytes(whole.read(1 << 16))
    return [str(folder / name) for name in PROGRAMS]


def test_structure_and_bytes(heads: "list[str]") -> None:
    for platform, some in (("manylinux_2_17_" + MACHINE, heads), ("musllinux_1_2_" + MACHINE, heads[:1])):
        path = build("a", platform, some)
        check = checked(path)
        assert check.returncode == 0, check.stdout + check.stderr
        assert path.name == f"bnctl-0.1.0-py3-none-{platform}.whl"
        assert path.read_bytes() == build("b", platform, some).read_bytes()


def test_faults_are_found(heads: "list[str]") -> None:
    """The check of the structure finds what is wrong."""
    good = build("good", f"musllinux_1_2_{MACHINE}", heads[:1])
    other = Path("bad", good.name)
    other.parent.mkdir()
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(other, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            new.writestr(entry, data + b"\n# changed\n" if entry.filename == "bnctl/_model.py" else data)
    assert "RECORD has another sum or size of bnctl/_model.py" in checked(other).stdout
    wrong = Path("bad", "bnctl-0.1.0-py3-none-win_amd64.whl")
    shutil.copy(good, wrong)
    out = checked(wrong).stdout
    assert "WHEEL has another tag" in out and "the programs are ['bnctl'], want" in out and "bnctl is ('elf'" in out


@pytest.mark.parametrize("text, want", [("0.1", "0.1"), ("v0.1.0", "0.1.0"), ("0.1 (0123456789ab)", "0.1+0123456789ab"),
                                        ("v0.2.0-rc.1", "0.2.0rc1")])
def test_versions(text: str, want: str) -> None:
    Path("p").write_bytes(b"\x7fELF")
    assert build("o", "manylinux_2_17_x86_64", ["p"], text).name.split("-")[1] == want


def test_python_3_9() -> None:
    """All modules are of the syntax of Python 3.9."""
    for path in [*SOURCE.joinpath("bnctl").glob("*.py"), SOURCE / "wheel.py"]:
        ast.parse(path.read_text(), feature_version=(3, 9))


def test_install_use_uninstall(digits: str) -> None:
    wheel = build("wheels", f"manylinux_2_17_{MACHINE}", programs())
    check = checked(wheel)
    assert check.returncode == 0, check.stdout + check.stderr
    venv = Path("venv").resolve()
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", str(venv)], check=True)
    before = sorted(p for p in venv.rglob("*") if "__pycache__" not in str(p))
    env = {k: v for k, v in os.environ.items() if k not in ("BNCTL", "PYTHONPATH")}
    pip = [str(venv / "bin" / "pip"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", "--no-index", "--find-links", str(wheel.parent), "bnctl"], check=True, env=env)
    code = f"""
import bnctl, numpy, sys
from bnctl import _binary
assert _binary.find() == {str(venv / "bin" / "bnctl")!r}, _binary.find()
with bnctl.Model({digits!r}, threads=1) as model:
    print(model.predict(numpy.zeros((1, 28, 28, 1), numpy.uint8)).probabilities.shape)
"""
    out = subprocess.run([str(venv / "bin" / "python"), "-c", code], check=True, env=env, capture_output=True, text=True).stdout
    assert out == "(1, 10)\n"
    assert subprocess.run([str(venv / "bin" / "bnctl"), "--version"], env=env, capture_output=True, text=True).stdout[:6] == "bnctl "
    plugins = subprocess.run([str(venv / "bin" / "python"), "-m", "pytest", "--help"], env=env, capture_output=True, text=True)
    assert "--bnctl-update" in plugins.stdout
    subprocess.run([*pip, "uninstall", "-q", "-y", "bnctl"], check=True, env=env)
    assert sorted(p for p in venv.rglob("*") if "__pycache__" not in str(p)) == before
