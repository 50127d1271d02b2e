"""Models that predict."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import threading
import urllib.parse
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union
import collections

import numpy as np

from . import _child, _http
from ._detection import Box, Detection
from ._errors import ClosedError, Error, InputError, MisuseError, ServerError, from_command
from ._inputs import Files, Rows, is_file, named, picture_file, prepare, shape_text
from ._options import Value, flags
from ._prediction import Kind, Prediction, TensorInfo

Array = np.ndarray[Any, Any]
PathLike = Union[str, "os.PathLike[str]"]
_T = TypeVar("_T")

_REQUEST_BYTES = 16 << 20  # the most of one request: the server refuses 64 MiB
_AHEAD = 3  # requests under way for one call
_FOREVER = "1000000h"


class Model:
    """A model that predicts, with the bits of ``bnctl predict``.

    A process of ``bnctl`` computes. It starts with the model, listens on a private socket, and ends
    with :meth:`close`, with the ``with`` block, with this process in whatever way, and when the
    model is no longer referenced. A model may be used by several threads.

    Parameters
    ----------
    path : str or os.PathLike
        A template (``.bnm``), or a file of another program: ``.onnx``, ``.pth``, ``.safetensors``,
        ``.keras``, ``.h5`` and others.
    devices : str or sequence of str, optional
        For example ``"2xcpu"`` or ``["cpu", "cuda:0"]``. Devices never change a result.
    threads : int, optional
        Threads of each CPU device; the cores by default.
    precision : str, optional
        ``"f32"`` or ``"bf16"``; by default that of the model's training.
    preprocess : str, optional
        How pixels become numbers, if the file does not contain it: ``"imagenet"``, ``"unit"``,
        ``"raw"``, ``"caffe"`` or ``"none"``.
    labels : str or sequence of str, optional
        Names of the classes, or a file with a name on each line.
    max_batch : int
        How many rows are computed together at most. It never changes a result.
    allow_sick : bool
        Open a model although its statistics cannot be right.
    **options
        Other options of ``bnctl serve`` for a file: ``arch``, ``size``, ``mean``, ``std``, ``kernels`` ...

    Raises
    ------
    Error
        If the file cannot be opened.

    Examples
    --------
    >>> with bnctl.Model("photos.bnm") as model:  # doctest: +SKIP
    ...     print(model.predict("cat.jpg").top(3))
    """

    def __init__(self, path: PathLike, devices: Value = None, threads: Optional[int] = None,
                 precision: Optional[str] = None, *, preprocess: Optional[str] = None, labels: Value = None,
                 max_batch: int = 32, allow_sick: bool = False, **options: Value) -> None:
        self._closed = True
        self.path = path_text(path)
        self._lock = threading.Lock()
        self._workers: Optional[ThreadPoolExecutor] = None
        self._inspected: Optional[Dict[str, Any]] = None
        self._last_head: Tuple[Tuple[Tuple[int, ...], ...], bytes] = ((), b"")
        known = {"devices": devices, "threads": threads, "precision": precision, "preprocess": preprocess,
                 "labels": labels, "max_batch": max_batch, "allow_sick": allow_sick or None}
        given = {**known, **options}
        self._file_options = {k: v for k, v in given.items() if k in _OF_FILES}
        address, token = _http.private_address()
        with flags("serve", given) as arguments, _token_file(token) as tokens:
            self._child = _child.Child(["serve", "--http", address, "--grpc", "", "--poll", _FOREVER,
                                        "--max-inflight-mb", "1024", *tokens, *arguments, "--", self.path])
            ready = self._ready()
        if len(ready["models"]) != 1:
            self._child.stop()
            raise MisuseError(f"{self.path} is a folder with {len(ready['models'])} models; name one of its files",
                              field="path")
        served = ready["models"][0]
        self._sha256: str = served["sha256"]
        self._base = f"/v2/models/{urllib.parse.quote(served['name'], safe='')}"
        self._client = _http.Client(ready["http"], token, self._base + "/predict")
        self._end = weakref.finalize(self, _end, self._client, self._child, address)
        self._closed = False
        self._describe()

    def _ready(self) -> Dict[str, Any]:
        """Return the line that the server prints when it is ready."""
        try:
            for line in iter(self._child.line, None):
                if line.get("event") == "serve":
                    return line
            code = self._child.wait()
        except BaseException:  # an interrupt while a large file is read
            self._child.stop(1)
            raise
        raise self._child.failure(code)

    def _describe(self) -> None:
        about, _ = self._ask(self._client.ask, "GET", self._base + "/predict")
        self._inputs = tuple(_info(t) for t in about["inputs"])
        self._outputs = tuple(_info(t) for t in about["outputs"])
        # The type and shape of rows that need no look: the most frequent input.
        first = self._inputs[0]
        self._exact = (first.dtype, first.shape[1:]) if len(self._inputs) == 1 else None
        self._pictures: bool = about["pictures"]
        self._max_batch: int = about["max_batch"]
        row = math.prod(n or 0 for n in first.shape[1:]) * first.dtype.itemsize
        self._at_once = min(_REQUEST_BYTES, row * self._max_batch)  # bytes of rows for one request
        self._kind = Kind(about["answers"], tuple(about["labels"]), about.get("scores", ""), about.get("mask", ""),
                          tuple(about.get("thresholds", ())))

    # Properties.

    @property
    def inputs(self) -> Tuple[TensorInfo, ...]:
        """The inputs of the model. Pictures are uint8 ``(None, H, W, C)``."""
        return self._inputs

    @property
    def outputs(self) -> Tuple[TensorInfo, ...]:
        """The outputs of the model, in the order of its file."""
        return self._outputs

    @property
    def labels(self) -> Tuple[str, ...]:
        """The names of the classes; numbers if the file has no names; empty if there are no classes."""
        return self._kind.labels

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file, as 64 hexadecimal digits."""
        return self._sha256

    @property
    def recipe(self) -> Optional[Dict[str, Any]]:
        """The recipe that the template was trained with, or None for files of other programs."""
        if self._inspected is None:
            with flags("inspect", {k: v for k, v in self._file_options.items() if k in _OF_INSPECT}) as arguments:
                self._inspected = _child.run(["inspect", *arguments, "--", self.path])[-1]
        recipe: Optional[Dict[str, Any]] = self._inspected.get("recipe")
        return recipe

    @property
    def closed(self) -> bool:
        """Whether the model is closed."""
        return self._closed

    @property
    def notes(self) -> List[str]:
        """Notes of the program about the file, for example that the kernel class of its training was another."""
        return self._child.notes()

    # Predictions.

    def predict(self, x: Any) -> Prediction:
        """Predict one input, or several.

        Parameters
        ----------
        x : numpy.ndarray, path, bytes, PIL.Image.Image, a list of them, or a dict
            For a model that accepts pictures: uint8 ``[N, H, W, C]`` or one picture ``[H, W, C]``, of any
            size, which is resized as the model says; paths, bytes or PIL images of picture files. For other
            models: numbers of the shape of the input, with or without a first axis for samples. float64 becomes
            float32. A ``.npy`` file is its array. Tensors of PyTorch are accepted. A model with several inputs
            needs all of them by their names, ``{"image": x, "state": y}``, with as many samples in each.

        Returns
        -------
        Prediction

        Raises
        ------
        InputError
            If the input is not what the model accepts.
        ClosedError, ServerError
            If the model is closed, or its process has ended.
        """
        self._check()
        if type(x) is np.ndarray and (x.dtype, x.shape[1:]) == self._exact and x.ndim > 0:
            if 0 < x.nbytes <= self._at_once and x.flags.c_contiguous:
                return self._joined([self._infer((x,))], False)
            return self._rows(Rows([np.ascontiguousarray(x)], False))
        ready = self._prepared(x)
        if isinstance(ready, Files):
            return self._files(ready)
        return self._rows(ready)

    __call__ = predict

    def detect(self, x: Any, score: Optional[float] = None,
               overlap: Optional[float] = None) -> Union[Detection, List[Detection]]:
        """Find the objects in a picture, or in several, with the boxes of ``bnctl predict``.

        Parameters
        ----------
        x : path, bytes, PIL.Image.Image, numpy.ndarray, or a list of them
            Pictures of any size; an array is uint8 ``[H, W, C]`` or ``[N, H, W, C]``.
        score : float, optional
            The least score of a box, from 0 to 1; that of ``bnctl predict`` by default.
        overlap : float, optional
            The largest overlap of two boxes of a class, from 0 to 1.

        Returns
        -------
        Detection, or a list of them for several pictures

        Raises
        ------
        InputError
            If the model is no detector, or the input no picture.
        """
        self._check()
        ready = self._prepared(x)
        if isinstance(ready, Rows):
            if not self._pictures:
                raise InputError(f"model {self.path} accepts no pictures, in which it could find objects")
            ready = Files(list(ready.arrays[0]), ready.single)
        limits = {k: repr(float(v)) for k, v in (("score", score), ("overlap", overlap)) if v is not None}
        query = "?" + urllib.parse.urlencode(limits)
        found = self._each(lambda item: self._detection(item, query), list(enumerate(ready.pictures)))
        return found[0] if ready.single else found

    def _detection(self, numbered: Tuple[int, Any], query: str) -> Detection:
        body, name = picture_file(numbered[1], f"picture {numbered[0]}")
        try:
            about, _ = self._ask(self._client.ask, "POST", self._base + "/detect" + query, body)
        except _http.Refused as problem:
            raise _http.failure(problem, name) from None
        boxes = [Box(b["label"], b["index"], b["score"], tuple(b["box"])) for b in about["boxes"] or ()]
        return Detection(boxes, about["width"], about["height"], numbered[1])

    def iterate(self, inputs: Iterable[Any], batch: Optional[int] = None) -> Iterator[Prediction]:
        """Predict inputs one after the other, of which only a few are in memory at a time.

        Parameters
        ----------
        inputs : iterable
            Single inputs: samples, paths, bytes, PIL images, dicts of samples. A ``numpy.memmap`` is read as it is
            needed, and so are the arrays of a dict, which have a sample of each input in a row.
        batch : int, optional
            How many are computed together; `max_batch` by default. It never changes a result.

        Yields
        ------
        Prediction
            That of each input, in their order.
        """
        self._check()
        size = batch or self._max_batch
        if size < 1:
            raise MisuseError(f"batch {size}: want at least 1", field="batch")
        source = self._samples(inputs)
        waiting: "Deque[Future[Prediction]]" = collections.deque()
        try:
            while True:
                while len(waiting) < 2:
                    items = list(itertools.islice(source, size))
                    if not items:
                        break
                    waiting.append(self._submit(self._outer, self._batch, items))
                if not waiting:
                    return
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def _samples(self, inputs: Iterable[Any]) -> Iterator[Any]:
        if not isinstance(inputs, Mapping):
            return iter(inputs)
        self._check_names(inputs)
        return (dict(zip(inputs, row)) for row in zip(*inputs.values()))

    _outer = "_outer_workers"
    _inner = "_inner_workers"
    _outer_workers: Optional[ThreadPoolExecutor] = None
    _inner_workers: Optional[ThreadPoolExecutor] = None

    def _batch(self, items: List[Any]) -> Prediction:
        if isinstance(items[0], Mapping):
            return self.predict({name: np.stack([np.asarray(item[name]) for item in items]) for name in items[0]})
        if all(isinstance(item, np.ndarray) and item.shape == items[0].shape for item in items):
            return self.predict(np.stack(items))
        if is_file(items[0]) or isinstance(items[0], np.ndarray):
            return self.predict(items)
        return self.predict(np.stack([np.asarray(item) for item in items]))

    def _prepared(self, x: Any) -> Union[Rows, Files]:
        """Return an input in the form in which it is sent."""
        names = [t.name for t in self._inputs]
        if isinstance(x, Mapping):
            self._check_names(x)
            if len(names) > 1:
                return named(x, self._inputs)
            x = x[names[0]]
        if len(names) > 1:
            raise InputError(f"the model has {len(names)} inputs; pass a dict: "
                             + ", ".join(f"{t.name} {t.dtype}{shape_text(t)}" for t in self._inputs))
        return prepare(x, self._inputs[0], self._pictures)

    def _check_names(self, x: Mapping[str, Any]) -> None:
        names = [t.name for t in self._inputs]
        if set(x) != set(names):
            raise InputError(f"the inputs are {', '.join(map(str, x)) or 'empty'}; the model has {', '.join(names)}")

    def _rows(self, rows: Rows) -> Prediction:
        if len(rows) == 0:
            return self._nothing()
        size = max(1, min(self._max_batch, _REQUEST_BYTES // max(1, rows.bytes_of_row())))
        return self._joined(self._each(self._infer, rows.parts(size)), rows.single)

    def _files(self, files: Files) -> Prediction:
        if not files.pictures:
            return self._nothing()
        return self._joined(self._each(self._picture, list(enumerate(files.pictures))), files.single)

    def _each(self, ask: Callable[[Any], _T], parts: Sequence[Any]) -> List[_T]:
        """Call `ask` for all parts, of which a few are under way at a time."""
        if len(parts) == 1:
            return [ask(parts[0])]
        futures = [self._submit(self._inner, ask, part) for part in parts]
        try:
            return [future.result() for future in futures]
        except BaseException:  # also an interrupt: nothing goes on behind the caller's back
            for future in futures:
                future.cancel()
            raise

    def _submit(self, which: str, ask: Callable[[Any], _T], part: Any) -> "Future[_T]":
        """Call `ask` for a part in another thread."""
        try:
            return self._executor(which).submit(ask, part)
        except RuntimeError:  # the model was closed
            self._check()
            raise

    def _executor(self, which: str) -> ThreadPoolExecutor:
        with self._lock:
            workers: Optional[ThreadPoolExecutor] = getattr(self, which)
            if workers is None:
                workers = ThreadPoolExecutor(_AHEAD, thread_name_prefix="bnctl")
                setattr(self, which, workers)
            return workers

    def _infer(self, rows: Tuple[Array, ...]) -> _http.Tensors:
        if len(rows) == 1:  # rows of the only input need no description
            head, size = b"", rows[0].nbytes
        else:
            head, size = self._head(tuple(array.shape for array in rows)), sum(array.nbytes for array in rows)
        try:
            return self._ask(self._client.rows, head, size, rows)
        except _http.Refused as problem:
            half = len(rows[0]) // 2
            if problem.status == 504 and half > 0:  # it took a minute: smaller parts
                return _join([self._infer(tuple(a[:half] for a in rows)), self._infer(tuple(a[half:] for a in rows))])
            raise _http.failure(problem) from None

    def _head(self, shapes: Tuple[Tuple[int, ...], ...]) -> bytes:
        """Return the head of a request for rows of these shapes; the last one is kept."""
        known, head = self._last_head
        if known != shapes:
            inputs = [{"name": to.name, "datatype": _DATATYPES[to.dtype.str.lstrip("<|")], "shape": shape,
                       "parameters": {"binary_data_size": math.prod(shape) * to.dtype.itemsize}}
                      for to, shape in zip(self._inputs, shapes)]
            head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
            self._last_head = shapes, head
        return head

    def _picture(self, numbered: Tuple[int, Any]) -> _http.Tensors:
        body, name = picture_file(numbered[1], f"picture {numbered[0]}")
        try:
            return self._ask(self._client.ask, "POST", self._base + "/predict", body)[1]
        except _http.Refused as problem:
            raise _http.failure(problem, name) from None

    def _joined(self, answers: List[_http.Tensors], single: bool) -> Prediction:
        joined = _join(answers)
        if single:
            joined = {name: tensor[0] for name, tensor in joined.items()}
        probabilities = joined.pop("@probabilities", None)
        return Prediction(self._kind, joined, probabilities, single)

    def _nothing(self) -> Prediction:
        outputs = {t.name: np.empty((0,) + tuple(n or 0 for n in t.shape[1:]), t.dtype) for t in self._outputs}
        classes = self._kind.answers in ("classes", "labels")
        return Prediction(self._kind, outputs, np.empty((0, len(self.labels)), "<f4") if classes else None)

    def _ask(self, ask: Callable[..., _T], *arguments: Any) -> _T:
        """Return what `ask` gets from the server, as soon as the server takes the request."""
        while True:
            try:
                return ask(*arguments)
            except _http.Refused as problem:
                if problem.status != 429:
                    raise
                threading.Event().wait(0.01)  # all threads together have asked for too much
            except (OSError, KeyError) as problem:
                raise self._lost(problem) from None

    def _lost(self, problem: Exception) -> Error:
        """Return the exception for a connection that failed."""
        if self._closed:
            return ClosedError(f"the model {self.path} was closed while it computed")
        try:
            code = self._child.process.wait(2)
        except Exception:
            return ServerError(f"the process of the model {self.path} does not answer: {problem}")
        last = self._child.failure(code)
        if last.code == code and code > 0:
            return ServerError(f"the process of the model {self.path} has ended: {last.sentence}; open the model again",
                               code)
        return ServerError(f"the process of the model {self.path} has ended {_child.ending(code)}; open the model again")

    def _check(self) -> None:
        if self._child.forked:
            raise ClosedError(f"the model {self.path} belongs to process {self._child.owner}, which forked this one; "
                              "open it in this process with bnctl.Model(path)")
        if self._closed:
            raise ClosedError(f"the model {self.path} is closed; open it again with bnctl.Model(path)")

    # The end.

    def close(self) -> None:
        """End the process. Calls under way in other threads get a ClosedError. It may be called again."""
        if self._closed:
            return
        self._closed = True
        if not self._child.forked:
            self._end()
            for workers in (self._outer_workers, self._inner_workers):
                if workers is not None:
                    workers.shutdown(wait=False)

    def __enter__(self) -> "Model":
        self._check()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], problem: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise ClosedError(f"the model {self.path} holds a process and cannot be sent to another; "
                          "send its path, and open it there with bnctl.Model(path)")

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{self._kind.answers}, sha256 {self._sha256[:12]}..."
        return f"Model({self.path!r}: {state})"


def path_text(path: PathLike) -> str:
    """Return the path of a model file as text."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise MisuseError(f"path {path!r}: want the path of a model file", field="path") from None
    if "\0" in text:
        raise MisuseError(f"path {text!r} has a null character", field="path")
    return text


def _join(answers: List[_http.Tensors]) -> _http.Tensors:
    """Return the rows of all answers."""
    if len(answers) == 1:
        return answers[0]
    return {name: np.concatenate([answer[name] for answer in answers]) for name in answers[0]}


def _end(client: _http.Client, child: _child.Child, address: str) -> None:
    if child.forked:
        return
    client.close()
    child.stop()
    _child.close(child.process.stdout)
    if address.startswith("unix:"):  # a process that was killed has left its socket
        with contextlib.suppress(OSError):
            os.unlink(address[len("unix:"):])


class _token_file:
    """A file with the token, where the address of the server does not protect it."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._path = ""

    def __enter__(self) -> List[str]:
        if not self._token:
            return []
        import tempfile

        handle, self._path = tempfile.mkstemp(prefix="bnctl-", suffix=".token")
        with os.fdopen(handle, "w") as file:
            file.write(self._token + "\n")
        return ["--token-file", self._path]

    def __exit__(self, *problem: object) -> None:
        if self._path:
            os.unlink(self._path)


def _info(t: Mapping[str, Any]) -> TensorInfo:
    return TensorInfo(t["name"], np.dtype(_http.DTYPES[t["datatype"]]),
                      tuple(None if n < 0 else n for n in t["shape"]))


_DATATYPES = {np.dtype(v).str.lstrip("<|"): k for k, v in _http.DTYPES.items()}
_OF_INSPECT = ("arch", "key", "input", "size", "drop", "rename")
_OF_FILES = _OF_INSPECT + ("labels", "preprocess", "mean", "std", "exif", "interpolation")
