"""Trainings: events, figures, the end, and data of Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bnctl
from bnctl import _binary

SMALL: Any = {"model": "mlp-bn", "batch": 32, "progress": False}


def test_run() -> None:
    run = bnctl.train("glyphs:200", val="glyphs:50@test", epochs=2, output="a.bnm", **SMALL)
    names = [event["event"] for event in run]
    assert names.count("epoch") == 2 and names[-1] == "done" and not run.running
    assert run.wait() is run and run.path == "a.bnm" and run.checkpoint == "a.bnc"
    subprocess.run([_binary.find(), "train", "--quiet", "--model", "mlp-bn", "--data", "glyphs:200", "--val",
                    "glyphs:50@test", "--epochs", "2", "--batch", "32", "-o", "b.bnm"], check=True, capture_output=True)
    assert Path("a.bnm").read_bytes() == Path("b.bnm").read_bytes()
    history = run.history
    assert history["epoch"] == [1, 2] and len(history["val_accuracy"]) == 2 == len(history["train_loss"])
    assert run.model.sha256 == run.sha256 and run.recipe["epochs"] == 2
    run.model.close()
    page = run.report()
    assert page == Path("a.html") and "<html" in page.read_text()
    assert "wrote a.bnm" in run._repr_html_() and "2 epochs" in repr(run)


def test_options_of_all_kinds() -> None:
    run = bnctl.train("glyphs:64", steps=1, lr=0.01, nesterov=True, lr_of=["fc1.*=0.1x"], class_weights=[1] * 10,
                      log_dir="logs", output="a.bnm", **SMALL)
    recipe = run.wait().recipe
    assert recipe["lr"] == 0.01 and recipe["nesterov"] and recipe["steps"] == 1
    with bnctl.Model("a.bnm", threads=1, labels=[f"digit, {i}" for i in range(10)]) as model:
        assert model.labels[3] == "digit, 3"
    assert run.report() == Path("logs/report.html")


def test_stop_and_resume() -> None:
    run = bnctl.train("glyphs:320", epochs=1000, output="a.bnm", log_every=1, **SMALL)
    for event in run:
        if event["event"] == "step" and event["step"] >= 3:
            break
    assert run.stop() == "a.bnc" and not run.running
    with pytest.raises(bnctl.StoppedError, match=r"stopped after \d+ steps; continue with bnctl.train\(resume='a.bnc'\)"):
        run.wait()
    steps = run._steps()
    again = bnctl.train("glyphs:320", resume="a.bnc", log_every=1, progress=False)
    assert next(e["step"] for e in again if e["event"] == "step") == steps + 1
    again.stop()


def test_interrupt_leaves_a_checkpoint() -> None:
    """Ctrl-C goes to the whole group of processes, as in a terminal."""
    run = subprocess.Popen([sys.executable, "-c", """
import signal
import bnctl
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background may have been told to ignore it
run = bnctl.train("glyphs:320", model="mlp-bn", batch=32, epochs=100000, output="a.bnm", log_every=1, progress=False)
for event in run:
    if event["event"] == "step":
        break
print("training", flush=True)
try:
    run.wait()
except KeyboardInterrupt:
    print("interrupted", run.checkpoint, flush=True)
"""], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert run.stdout is not None and run.stdout.readline() == "training\n"
    time.sleep(0.2)
    os.killpg(run.pid, signal.SIGINT)
    assert run.communicate(timeout=60)[0] == "interrupted a.bnc\n"


def test_failed_run() -> None:
    with pytest.raises(bnctl.MisuseError, match="lr") as raised:
        bnctl.train("glyphs:64", lr="fast", **SMALL)
    assert raised.value.code == 2 and raised.value.field == "lr"
    with pytest.raises(bnctl.Error, match="batch"):
        bnctl.train("glyphs:64", model="mlp-bn", batch=1, progress=False).wait()


def test_arrays() -> None:
    """Arrays, with labels as text, and an iterable give the template of the same files."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 256, (60, 28, 28, 1)).astype(np.uint8)
    names = np.array(["ant", "bee", "cat"])[np.arange(60) % 3]
    run = bnctl.train((x, names), val=(255 - x[:9], names[:9]), epochs=1, output="a.bnm", **SMALL).wait()
    assert run.model.labels == ("ant", "bee", "cat")
    folder = run._sources._folder
    assert folder is not None and not os.path.exists(folder)  # nothing is left
    run.model.close()
    by_iterable = bnctl.train(((p, n) for p, n in zip(x, names)), val=list(zip(255 - x[:9], names[:9])), epochs=1,
                              output="b.bnm", **SMALL).wait()
    assert by_iterable.model.labels == ("ant", "bee", "cat")
    by_iterable.model.close()
    assert Path("a.bnm").read_bytes() == Path("b.bnm").read_bytes()
    with pytest.raises(bnctl.Error, match="dog"):
        bnctl.train((x, names), val=(255 - x[:1], ["dog"]), **SMALL)
    with pytest.raises(bnctl.InputError, match="labels as text, which arrays of float32 cannot have; number them"):
        bnctl.train((x / np.float32(255), names), **SMALL)


def test_run_without_a_name() -> None:
    """A run that nobody holds goes on, and ends with Python."""
    out = subprocess.run([sys.executable, "-c", """
import bnctl, gc
bnctl.train("glyphs:64", model="mlp-bn", batch=32, steps=2, output="a.bnm", progress=False)
gc.collect()
import time, os
for _ in range(600):
    if os.path.exists("a.bnm"): break
    time.sleep(0.1)
print(os.path.exists("a.bnm"))
"""], capture_output=True, text=True)
    assert out.stdout == "True\n", out.stderr


def test_progress(capsys: "pytest.CaptureFixture[str]") -> None:
    bnctl.train("glyphs:64", val="glyphs:20@test", model="mlp-bn", batch=32, epochs=2, output="a.bnm", progress=True).wait()
    time.sleep(0.1)
    shown = capsys.readouterr().err
    assert "step 4/4" in shown and "val accuracy" in shown
