"""Predictions have the bits of the command, in whatever form the input comes."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

import bnctl
from bnctl import _binary, _data, _http


def predicted(model: str, array: Any, *flags: str) -> Any:
    """The array of bnctl predict for an array."""
    np.save("in.npy", array)
    subprocess.run([_binary.find(), "predict", model, "in.npy", "--quiet", "-o", "out.npy", *flags], check=True)
    return np.load("out.npy")


def predicted_file(model: str, path: object) -> Any:
    """The probabilities of bnctl predict for a picture file."""
    subprocess.run([_binary.find(), "predict", model, str(path), "--quiet", "-o", "out.npy"], check=True)
    return np.load("out.npy")


def test_bits_of_predict(model: bnctl.Model, digits: str, pictures: Any) -> None:
    p = model.predict(pictures)
    assert p.probabilities.tobytes() == predicted(digits, pictures).tobytes()
    assert p["logits"].tobytes() == predicted(digits, pictures, "--logits").tobytes()
    assert p.probabilities.dtype == np.float32 and len(p) == 70


def test_pictures_of_other_sizes(model: bnctl.Model, digits: str) -> None:
    x = np.random.default_rng(2).integers(0, 256, (5, 50, 40, 3)).astype(np.uint8)
    assert model.predict(x).probabilities.tobytes() == predicted(digits, x).tobytes()
    assert model.predict(x[0]).probabilities.tobytes() == predicted(digits, x)[0].tobytes()
    mixed = [x[0], x[1][:30], x[2][:, :, 0]]
    for got, picture in zip(model.predict(mixed), mixed):
        one = picture[None] if picture.ndim == 3 else picture[None, :, :, None]
        assert got.probabilities.tobytes() == predicted(digits, one)[0].tobytes()


def test_files_bytes_and_pillow(model: bnctl.Model, digits: str) -> None:
    image = pytest.importorskip("PIL.Image")
    x = np.random.default_rng(3).integers(0, 256, (40, 50, 3)).astype(np.uint8)
    for mode in ("RGB", "L", "RGBA", "P", "LA", "CMYK"):
        picture = image.fromarray(x).convert(mode)
        file = io.BytesIO()
        picture.save(file, "TIFF" if mode == "CMYK" else "PNG")
        Path("a.img").write_bytes(file.getvalue())
        by_path = model.predict("a.img").probabilities
        assert by_path.tobytes() == predicted_file(digits, "a.img")[0].tobytes()
        assert model.predict(Path("a.img")).probabilities.tobytes() == by_path.tobytes()
        assert model.predict(file.getvalue()).probabilities.tobytes() == by_path.tobytes()
        if mode != "CMYK":  # Pillow and bnctl convert it to RGB differently
            assert model.predict(picture).probabilities.tobytes() == by_path.tobytes(), mode
    assert len(model.predict(["a.img", Path("a.img")])) == 2


def test_numbers(numbers: str) -> None:
    x = np.random.default_rng(4).normal(size=(50, 3, 8, 8)).astype(np.float32)
    with bnctl.Model(numbers, threads=1, max_batch=7) as model:
        want = predicted(numbers, x)
        assert model.predict(x).probabilities.tobytes() == want.tobytes()
        assert model.predict(x.astype(np.float64)).probabilities.tobytes() == want.tobytes()
        assert model.predict(x.astype(">f4")).probabilities.tobytes() == want.tobytes()
        assert model.predict(np.asfortranarray(x)).probabilities.tobytes() == want.tobytes()
        assert model.predict(x[::2]).probabilities.tobytes() == want[::2].tobytes()
        assert model.predict(x[0]).probabilities.tobytes() == want[0].tobytes()
        assert model.predict({"x": x}).probabilities.tobytes() == want.tobytes()
        assert model.predict(x[:2].tolist()).probabilities.tobytes() == want[:2].tobytes()
        np.save("x.npy", x)
        assert model.predict("x.npy").probabilities.tobytes() == want.tobytes()
        assert len(model.predict(x[:0])) == 0 and model.predict(x[:0]).probabilities.shape == (0, 3)
        assert model.predict(np.zeros((1, 3, 8, 8), int)).probabilities.tobytes() == \
            predicted(numbers, np.zeros((1, 3, 8, 8), np.float32)).tobytes()


def test_properties(model: bnctl.Model, digits: str) -> None:
    about = json.loads(subprocess.run([_binary.find(), "inspect", digits, "--json"], capture_output=True).stdout)
    sha = subprocess.run(["sha256sum", digits], capture_output=True, text=True).stdout.split()[0]
    assert model.recipe == about["recipe"] and model.sha256 == sha
    assert [(t.name, t.dtype, t.shape) for t in model.inputs] == [("x", np.uint8, (None, 28, 28, 1))]
    assert [(t.name, t.dtype, t.shape) for t in model.outputs] == [("logits", np.float32, (None, 10))]
    assert model.labels == tuple("0123456789") and not model.closed


def test_top(model: bnctl.Model, digits: str, pictures: Any) -> None:
    np.save("one.npy", pictures[:1])
    said = json.loads(subprocess.run([_binary.find(), "predict", digits, "one.npy", "--json", "--top", "4"],
                                     capture_output=True, check=True).stdout)["top"]
    top = model.predict(pictures[0]).top(4)
    assert [(c.label, c.index, np.float32(c.p)) for c in top] == [(c["label"], c["index"], np.float32(c["p"])) for c in said]
    many = model.predict(pictures)
    assert many.top(1)[0][0].label == many.labels[0] == many[0].labels
    assert len(many[3:5]) == 2 and many[3:5].labels == many.labels[3:5] and len(many[0].top(99)) == 10
    assert "%" in repr(many[0]) and "<table>" in many[0]._repr_html_()


def test_threads(model: bnctl.Model, pictures: Any) -> None:
    want = [model.predict(pictures[i:i + 3]).probabilities.tobytes() for i in range(12)]
    wrong = []

    def ask(i: int) -> None:
        for _ in range(5):
            if model.predict(pictures[i:i + 3]).probabilities.tobytes() != want[i]:
                wrong.append(i)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


class Slow:
    """A socket that takes and gives a few bytes at a time."""

    def __init__(self, of: socket.socket) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    def sendmsg(self, parts: Any) -> int:
        return self._of.send(bytes(parts[0])[:5])

    def recv_into(self, view: Any) -> int:
        return self._of.recv_into(memoryview(view)[:11])

    def recvmsg_into(self, views: Any) -> Any:
        return (self.recv_into(views[0]),)


@pytest.mark.parametrize("scatters", (True, False))
def test_rows_in_pieces(model: bnctl.Model, pictures: Any, scatters: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers have their bits wherever the system cuts a message, and where it does not scatter (Windows)."""
    want = {n: model.predict(pictures[:n]).probabilities.tobytes() for n in (1, 2)}
    monkeypatch.setattr(_http, "_SCATTERS", scatters)
    stream = model._client._idle[1][-1]
    monkeypatch.setattr(stream, "socket", Slow(stream.socket))
    for n in (1, 1, 2, 2, 1):
        assert model.predict(pictures[:n]).probabilities.tobytes() == want[n]
    assert model._client._idle[1][-1] is stream


def test_answers_have_memory_of_their_own(model: bnctl.Model, pictures: Any) -> None:
    first, second = model.predict(pictures[:1]), model.predict(pictures[1:2])
    kept = first.probabilities.tobytes()
    second.probabilities[:] = 0
    first["logits"][:] = 0
    assert first.probabilities.tobytes() == kept == model.predict(pictures[:1]).probabilities.tobytes()
    assert all(a.flags.aligned and a.flags.writeable for a in first.outputs.values())


def test_idle_connections_that_the_server_closed(model: bnctl.Model, pictures: Any) -> None:
    """The server closes a connection of HTTP that is idle for two minutes: the next call does not notice."""
    Path("a.png").write_bytes(_data.png(pictures[0]))
    for x in (pictures[:1], "a.png"):
        want = model.predict(x).probabilities.tobytes()
        idle = [c for connections in model._client._idle for c in connections]
        for connection in idle:
            connection.socket.shutdown(socket.SHUT_RDWR)
        assert idle and model.predict(x).probabilities.tobytes() == want


def test_iterate_holds_a_few(model: bnctl.Model, pictures: Any) -> None:
    taken = 0

    def source() -> Any:
        nonlocal taken
        for x in pictures:
            taken += 1
            yield x

    want, ahead = model.predict(pictures).probabilities, []
    for i, p in enumerate(model.iterate(source(), batch=4)):
        assert p.probabilities.tobytes() == want[i].tobytes()
        ahead.append(taken - i)
    assert i == 69 and max(ahead) <= 3 * 4
    walk = model.iterate(iter(pictures), batch=4)
    next(walk)
    walk.close()  # an iteration that ends early leaves nothing
    assert list(model.iterate([])) == []


def test_values() -> None:
    """A model of numbers gives them in their units, as bnctl predict prints them."""
    x = np.random.default_rng(1).integers(0, 256, (40, 28, 28, 1)).astype(np.uint8)
    lines = ["path,age"]
    for i, picture in enumerate(x):
        Path(f"{i}.png").write_bytes(_data.png(picture))
        lines.append(f"{i}.png,{100 + picture.mean():.3f}")
    Path("ages.csv").write_text("\n".join(lines) + "\n")
    run = bnctl.train("csv:ages.csv", csv_columns="target=age", model="mlp-bn", steps=2, batch=20, output="n.bnm",
                      progress=False).wait()
    got = run.model.predict(x[:3])
    printed = subprocess.run([_binary.find(), "predict", "n.bnm", *(f"{i}.png" for i in range(3)), "--json"], check=True,
                             capture_output=True, text=True).stdout
    want = [[np.float32(v["value"]) for v in json.loads(line)["values"]] for line in printed.splitlines()]
    assert got.values.tolist() == want and run.model.labels == ("age",)
    run.model.close()
    with pytest.raises(bnctl.AnswerError, match="gives numbers, not classes"):
        got.probabilities


def test_masks() -> None:
    subprocess.run([_binary.find(), "train", "--quiet", "--model", "unet-bn", "--data", "shapes:20", "--steps", "2",
                    "--batch", "10", "-o", "scenes.bnm"], check=True, capture_output=True)
    subprocess.run([_binary.find(), "data", "show", "shapes@test", "-o", "scene.png", "--count", "1"], check=True,
                   capture_output=True)
    image = pytest.importorskip("PIL.Image")
    with bnctl.Model("scenes.bnm", threads=1) as model:
        size = model.inputs[0].shape[1:3]
        image.open("scene.png").convert("RGB").resize((size[1], size[0])).save("fits.png")
        subprocess.run([_binary.find(), "predict", "scenes.bnm", "fits.png", "--quiet", "--format", "masks", "--fit", "crop",
                        "-o", "masks"], check=True)
        want = np.asarray(image.open("masks/fits.png"))
        mask = model.predict("fits.png").mask
        assert mask.dtype == np.uint8 and mask.shape == want.shape and (mask == want).all()
        with pytest.raises(bnctl.AnswerError, match="gives masks, not classes"):
            model.predict("fits.png").probabilities


@pytest.mark.skipif(not _http._SHARES, reason="this system has no memory without a name")
@pytest.mark.parametrize("fault", [None, "refused", "missing"])
def test_shared_memory(digits: str, pictures: Any, fault: Optional[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are the same, whether elements are in shared memory, or the server refuses it, or there is none."""
    want = predicted(digits, pictures)
    monkeypatch.setattr(_http, "_LEAST_SHARED", 100)
    made = []

    def shared_memory(size: int) -> Any:
        made.append(size)
        if fault == "missing":
            raise OSError(12, "Cannot allocate memory")
        if fault == "refused":  # its length is not fixed
            handle = os.memfd_create("test")
            os.posix_fallocate(handle, 0, size)
            return handle, np.zeros(size, np.uint8)
        return original(size)

    original = _http._shared_memory
    monkeypatch.setattr(_http, "_shared_memory", shared_memory)
    with bnctl.Model(digits) as model:
        before = len(os.listdir("/proc/self/fd"))
        for rows in (1, 3, 3, 2, 20, 32, 1):
            assert model.predict(pictures[:rows]).probabilities.tobytes() == want[:rows].tobytes()
        assert made == ([784] if fault else [784 * n for n in (1, 3, 20, 32)])
        assert len(os.listdir("/proc/self/fd")) <= before + 3  # the connection and one memory
        folder = f"/proc/{model._child.process.pid}/"
        assert "memfd:bnctl-rows" in Path(folder + "maps").read_text() or fault
        model._client.close()
        while "memfd:bnctl-rows" in Path(folder + "maps").read_text():
            time.sleep(0.01)
