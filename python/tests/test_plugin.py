"""The plugin of pytest, in a pytest of its own."""

from __future__ import annotations

import pytest

from conftest import PLUGIN


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest in the folder with the plugin; a wheel has it as an entry point."""
    return pytester.runpytest_subprocess(*PLUGIN, *arguments)


TEST = """
import numpy as np
from bnctl.testing import assert_same_bits, assert_same_outputs

def test_model(bnctl_model):
    model = bnctl_model({model!r}, threads=1)
    assert model is bnctl_model({model!r}, threads=1)
    x = np.full((2, 28, 28, 1), {value}, np.uint8)
    assert_same_bits(model, model.sha256[:12])
    assert_same_bits({model!r}, model.sha256)
    assert_same_outputs(model, x, "goldens/m.npz")
"""


def test_goldens(pytester: pytest.Pytester, digits: str) -> None:
    pytester.makepyfile(test_it=TEST.format(model=digits, value=7))
    run(pytester).stdout.fnmatch_lines(["*goldens/m.npz does not exist; run pytest with --update*"])
    run(pytester, "--update").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)
    pytester.makepyfile(test_it=TEST.format(model=digits, value=9))
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*output logits: 20 of 20 elements have other bits than goldens/m.npz; the first is*0, 0*"])
    run(pytester, "--bnctl-update").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)


def test_other_bits(pytester: pytest.Pytester, digits: str) -> None:
    pytester.makepyfile(test_it=f"""
from bnctl.testing import assert_same_bits
def test_it():
    assert_same_bits({digits!r}, "0123456789")
def test_short():
    assert_same_bits({digits!r}, "0123")
""")
    result = run(pytester)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*has sha256 *, want 0123456789", "*want 8 to 64 hexadecimal digits*"])


def test_another_plugin_has_update(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--update', action='store_true')")
    pytester.makepyfile("def test_it(): pass")
    run(pytester, "--bnctl-update").assert_outcomes(passed=1)
