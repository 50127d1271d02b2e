"""No process outlives the Python that started it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any, Callable

import numpy as np
import pytest

import bnctl
from conftest import processes

START = """
import os, sys, time, signal, bnctl, numpy as np
model = bnctl.Model({digits!r}, threads=1)
x = np.zeros((1, 28, 28, 1), np.uint8)
model.predict(x)
print(model._child.process.pid, model._client._address, flush=True)
"""


def started(digits: str, rest: str) -> "tuple[subprocess.Popen[str], int, str]":
    """Start a Python with an open model; return it with the process and the socket of the model."""
    run = subprocess.Popen([sys.executable, "-c", START.format(digits=digits) + rest], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    line = run.stdout.readline()
    if not line:
        raise AssertionError(run.communicate()[1])
    pid, address = line.split()
    return run, int(pid), address


def gone(pid: int, seconds: float = 20) -> bool:
    """Whether a process ends within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if pid not in processes():
            return True
        time.sleep(0.05)
    return False


def test_kill_9(digits: str) -> None:
    run, pid, address = started(digits, "time.sleep(600)")
    assert pid in processes()
    run.kill()
    run.wait()
    assert gone(pid) and not os.path.exists(address[len("unix:"):])


def test_kill_9_of_a_training(digits: str) -> None:
    """The run ends with its parent, and leaves a checkpoint."""
    run = subprocess.Popen([sys.executable, "-c", """
import bnctl
run = bnctl.train("glyphs:600", model="mlp-bn", epochs=10000, batch=32, output="t.bnm", log_every=1)
for event in run:
    if event["event"] == "step":
        print(run._child.process.pid, event["step"], flush=True)
"""], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    pid, step = map(int, run.stdout.readline().split())
    run.kill()
    run.wait()
    assert gone(pid)
    assert bnctl.strip("t.bnc", "t.bnm").architecture == "mlp-bn" and step > 0


FORKS = {
    "a fork that sleeps": "if os.fork() == 0: time.sleep(5); os._exit(0)\nos.kill(os.getpid(), 9)",
    "a pool of processes": "import multiprocessing as m; p = m.get_context('fork').Pool(2); p.map(abs, [1]); "
                           "os.kill(os.getpid(), 9)",
    "a program of the user": "import subprocess; subprocess.Popen(['sleep', '5'], close_fds=False); os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("how", FORKS)
def test_children_do_not_hold_the_pipe(digits: str, how: str) -> None:
    run, pid, _ = started(digits, FORKS[how])
    run.wait()
    began = time.monotonic()
    assert gone(pid) and time.monotonic() - began < 4


def test_forked_child(digits: str) -> None:
    """A forked child gets a sentence, can open the model itself, and leaves the parent's alone."""
    run, pid, _ = started(digits, """
r, w = os.pipe()
if os.fork() == 0:
    try:
        model.predict(x)
    except bnctl.ClosedError as problem:
        os.write(w, str(problem).encode())
    with bnctl.Model(model.path, threads=1) as own:
        os.write(w, b'; own ' + str(own.predict(x).probabilities.shape).encode())
    model.close()
    sys.exit(0)  # runs the functions of atexit
os.close(w)
os.wait()
print(os.read(r, 999).decode(), model.predict(x).probabilities.shape, flush=True)
""")
    out, err = run.communicate(timeout=60)
    assert "belongs to process" in out and "; own (1, 10)" in out and out.endswith("(1, 10)\n"), out + err
    assert gone(pid)


ENDS = {"the end": "", "an exception": "raise SystemExit(3)", "a bug": "1 / 0", "os._exit": "os._exit(0)",
        "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)", "del": "del model", "an abort": "os.abort()",
        "SIGINT": "os.kill(os.getpid(), signal.SIGINT); time.sleep(9)"}


@pytest.mark.parametrize("how", ENDS)
def test_ends(digits: str, how: str) -> None:
    run, pid, address = started(digits, ENDS[how])
    out, err = run.communicate(timeout=60)
    assert gone(pid) and not os.path.exists(address[len("unix:"):])
    assert "Exception ignored" not in err and "ResourceWarning" not in err, err


def test_failed_start_leaves_nothing(digits: str) -> None:
    before = processes()
    for bad in ({"devices": "nope"}, {"precision": "f16"}):
        with pytest.raises(bnctl.Error):
            bnctl.Model(digits, **bad)  # type: ignore[arg-type]
    assert all(gone(pid) for pid in processes() - before)


def interrupted(call: Callable[[], Any], after: float) -> float:
    """Call something, interrupt it after some seconds, and return how long the interrupt took."""
    moment = []

    def handler(*_: object) -> None:
        moment.append(time.monotonic())
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        return time.monotonic() - moment[0]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_interrupted_prediction(digits: str) -> None:
    """The model answers rightly after an interrupt in the middle of a call."""
    x = np.random.default_rng(1).integers(0, 256, (20000, 28, 28, 1)).astype(np.uint8)
    with bnctl.Model(digits, threads=1) as model:
        want = model.predict(x[:5]).probabilities.tobytes()
        for after in (0.01, 0.05, 0.1):
            def forever() -> None:
                while True:
                    model.predict(x)

            assert interrupted(forever, after) < 10
            assert model.predict(x[:5]).probabilities.tobytes() == want
        for after in (0.005, 0.02):
            def single() -> None:
                while True:
                    model.predict(x[:1])

            interrupted(single, after)
            assert model.predict(x[:5]).probabilities.tobytes() == want


def test_interrupted_start(digits: str) -> None:
    before = processes()
    assert interrupted(lambda: [bnctl.Model(digits, threads=1).close() for _ in range(100)], 0.3) < 10
    assert all(gone(pid) for pid in processes() - before)


def test_two_interpreters(digits: str) -> None:
    """Two Pythons serve the same file at the same time, each with its own process."""
    pair = [started(digits, "sys.stdin.readline()") for _ in range(2)]
    assert pair[0][1] != pair[1][1] and pair[0][2] != pair[1][2]
    for run, pid, _ in pair:
        run.kill()
        run.wait()
        assert gone(pid)


def test_socket_is_private(digits: str) -> None:
    with bnctl.Model(digits, threads=1) as model:
        path = model._client._address[len("unix:"):]
        assert os.stat(path).st_mode & 0o777 == 0o600
    assert not os.path.exists(path)
