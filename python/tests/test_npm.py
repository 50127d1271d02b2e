"""The packages of npm: their bytes, an installation from files without network, npx, exit codes and signals."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from bnctl import _binary
from conftest import SOURCE

SYSTEM = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}[os.uname().machine]


def build(output: str, program: str) -> None:
    """Write the packages of this machine."""
    Path(output).mkdir()
    Path(output, "licences").write_text("licence\n")
    subprocess.run([sys.executable, str(SOURCE.parent / "scripts" / "release" / "npm.py"), "--version", "0.1.0", "--licences",
                    f"{output}/licences", "--output", output, f"{SYSTEM}={program}"], check=True, capture_output=True)


def test_bytes() -> None:
    Path("program").write_bytes(b"\x7fELF")
    for folder in "ab":
        build(folder, "program")
    files = sorted(path.name for path in Path("a").glob("*.tgz"))
    assert len(files) == 2 and all(Path("a", f).read_bytes() == Path("b", f).read_bytes() for f in files)


def test_npx() -> None:
    if shutil.which("npm") is None:
        pytest.skip("there is no npm here")
    build("a", _binary.find())
    names = [f"bnctl-{SYSTEM}-0.1.0.tgz", "bnctl-0.1.0.tgz"]
    with tarfile.open(f"a/{names[0]}") as archive:
        assert sorted(archive.getnames()) == ["package/LICENSE", "package/LICENSES-OF-MODULES", "package/bin/bnctl",
                                              "package/package.json"]
    Path("package.json").write_text("{}")
    env = {**os.environ, "npm_config_cache": os.path.abspath("cache"), "npm_config_offline": "true", "npm_config_audit": "false",
           "npm_config_fund": "false"}
    subprocess.run(["npm", "install", *(f"./a/{name}" for name in names)], env=env, check=True, capture_output=True)
    npx = subprocess.run(["npx", "bnctl", "--version"], env=env, capture_output=True, text=True)
    assert npx.stdout == subprocess.run([_binary.find(), "--version"], capture_output=True, text=True).stdout, npx.stderr
    bnctl = "node_modules/.bin/bnctl"
    assert subprocess.run([bnctl, "inspect", "none.bnm"], capture_output=True).returncode == \
        subprocess.run([_binary.find(), "inspect", "none.bnm"], capture_output=True).returncode != 0
    run = subprocess.Popen([bnctl, "train", "--json", "--data", "glyphs:600", "--model", "mlp-bn", "--epochs", "9999", "--log-every", "1",
                            "-o", "m.bnm"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert run.stdout is not None and any('"event":"step"' in line for line in run.stdout)
        run.send_signal(signal.SIGTERM)
        run.stdout.read()
    finally:
        subprocess.run(["pkill", "-P", str(run.pid)])  # the program, if the launcher has failed
    assert run.wait(60) == 143 and Path("m.bnc").exists()
    shutil.rmtree(f"node_modules/bnctl-{SYSTEM}")
    lost = subprocess.run([bnctl, "version"], capture_output=True, text=True)
    assert lost.returncode == 1 and f"there is no package bnctl-{SYSTEM}; install without" in lost.stderr
