"""The sessions of docs/python.md and the notebook run as they are printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bnctl import _data
from conftest import PLUGIN, SOURCE, command

DOCS = SOURCE.parent / "docs"


def session(number: int) -> str:
    """The code of a session."""
    part = DOCS.joinpath("python.md").read_text().split(f"## Session {number}:")[1].split("\n## ")[0]
    found = re.findall(r"```python\n(.*?)```", part, re.S)
    assert len(found) == 1
    return str(found[0])


@pytest.fixture()
def photos() -> None:
    """A folder of pictures of two classes, and one more picture."""
    rng = np.random.default_rng(1)
    for label, mean in (("cat", 90), ("dog", 160)):
        Path("photos", label).mkdir(parents=True)
        for i in range(24):
            pixels = np.clip(rng.normal(mean, 40, (32, 32, 3)), 0, 255).astype(np.uint8)
            Path("photos", label, f"{i}.png").write_bytes(_data.png(pixels))
    Path("cat.png").write_bytes(Path("photos/cat/0.png").read_bytes())


@pytest.fixture()
def template(photos: None) -> Path:
    """A template of them."""
    command("train", "--quiet", "--data", "folder:photos", "--model", "resnet20", "--steps", 2, "--batch", 16, "-o", "photos.bnm")
    return Path("photos.bnm").resolve()


def run(code: str) -> str:
    """The output of a program, which has to end well."""
    Path("session.py").write_text(code)
    done = subprocess.run([sys.executable, "session.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_predict(template: Path) -> None:
    out = run(session(1))
    assert "('cat', 'dog')" in out and "(3, 2)" in out and "%" in out


def test_train(photos: None) -> None:
    out = run(session(2))
    assert Path("photos.html").exists() and "photos.html" in out and "Class(label='" in out


def test_torch() -> None:
    pytest.importorskip("torch")
    run(session(3))


def test_ci(template: Path, pytester: pytest.Pytester) -> None:
    (pytester.path / "photos.bnm").write_bytes(template.read_bytes())
    pytester.makepyfile(test_it=session(4))
    pytester.runpytest_subprocess(*PLUGIN, "--update").assert_outcomes(passed=1)
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def notebook() -> Any:
    """The example notebook."""
    return json.loads(DOCS.joinpath("examples", "python", "photos.ipynb").read_text())


def test_notebook_is_the_session() -> None:
    cells = ["".join(c["source"]) for c in notebook()["cells"] if c["cell_type"] == "code"]
    for line in session(5).splitlines():
        assert line in "\n".join(cells), line
    run(session(5))


def test_notebook_runs() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.reads(json.dumps(notebook()), as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = json.dumps(book.cells)
    assert "wrote glyphs.bnm" in shown and "step 57/57" in shown  # the progress that was updated in place, and the run
    assert "<svg" in shown
