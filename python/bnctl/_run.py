"""A training that runs."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Iterator, List, Optional, Set, Type, Union

from . import _child
from ._data import Sources
from ._errors import Error, StoppedError
from ._model import Model
from ._options import flags
from ._progress import Progress, page

_running: "Set[Run]" = set()  # keeps runs without a name from being collected
_PATIENCE = 30.0  # a checkpoint is there within ten seconds


class Run:
    """A training that runs in a process of ``bnctl``.

    Iterate over it for its events as they come: dictionaries with the key ``event`` (``start``, ``step``,
    ``epoch``, ``checkpoint``, ``done`` and others). The training does not wait for a reader. It stops, and
    leaves a checkpoint, with :meth:`stop`, after Ctrl-C in :meth:`wait` or in an iteration, and when Python ends.

    Attributes
    ----------
    events : list of dict
        All events so far.
    """

    def __init__(self, options: Dict[str, Any], sources: Sources, progress: Optional[bool]) -> None:
        self.events: List[Dict[str, Any]] = []
        self._options = options
        self._sources = sources
        self._changed = threading.Condition()
        self._code: Optional[int] = None
        self._stopping = False
        self._opened: Optional[Model] = None
        self._progress = Progress(self, progress)
        self._files = flags("train", options)
        self._child = _child.Child(["train", *self._files.__enter__()])
        self._end = weakref.finalize(self, _stop, self._child)
        _running.add(self)
        threading.Thread(target=self._read, name="bnctl-train", daemon=True).start()
        try:
            self._wait_for_start()
        except BaseException:
            self._child.stop(_PATIENCE)
            raise

    def _wait_for_start(self) -> None:
        with self._changed:
            while self._code is None and not any(e["event"] in ("start", "find_lr") for e in self.events):
                self._changed.wait(0.1)
            if self._code not in (None, 0):
                raise self._failure()

    def _read(self) -> None:
        for event in iter(self._child.line, None):
            with self._changed:
                self.events.append(event)
                self._changed.notify_all()
            self._progress.show(event)
        code = self._child.wait()
        _child.close(self._child.process.stdout)
        self._sources.close()
        self._files.__exit__()
        self._progress.end()
        with self._changed:
            self._code = code
            self._changed.notify_all()
        _running.discard(self)

    def _failure(self) -> Error:
        assert self._code is not None
        if self._code in (130, 143, -15, -2):
            at = f"; continue with bnctl.train(resume={self.checkpoint!r})" if self.checkpoint else ""
            return StoppedError(f"the run was stopped after {self._steps()} steps{at}", self._code)
        return self._child.failure(self._code)

    def _steps(self) -> int:
        return max([int(e["step"]) for e in self.events if e["event"] in ("step", "checkpoint")], default=0)

    # Events and the end.

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        at = 0
        while True:
            try:
                with self._changed:
                    while at == len(self.events) and self._code is None:
                        self._changed.wait(0.1)
                    if at == len(self.events):
                        break
                    event = self.events[at]
            except KeyboardInterrupt:
                self.stop()
                raise
            at += 1
            yield event
        if self._code != 0 and not self._stopping:
            raise self._failure()

    def wait(self, timeout: Optional[float] = None) -> "Run":
        """Wait for the end, and return the run.

        Parameters
        ----------
        timeout : float, optional
            Seconds after which a TimeoutError is raised; the run goes on.

        Raises
        ------
        Error
            If the training failed, or was stopped.
        KeyboardInterrupt
            After Ctrl-C; the run has left a checkpoint then.
        """
        try:
            with self._changed:
                if not self._changed.wait_for(lambda: self._code is not None, timeout):
                    raise TimeoutError(f"the run has not ended after {timeout:g} seconds")
        except KeyboardInterrupt:
            self.stop()
            raise
        if self._code != 0:
            raise self._failure()
        return self

    def stop(self) -> Optional[str]:
        """Stop the run, and return its checkpoint, or None if there is none.

        A run that has ended stays as it is.
        """
        self._stopping = True
        if not self._child.forked:
            self._child.stop(_PATIENCE)
            with self._changed:
                self._changed.wait_for(lambda: self._code is not None, _PATIENCE)
        return self.checkpoint

    @property
    def running(self) -> bool:
        """Whether the run has not ended."""
        return self._code is None

    # Results.

    def _last(self, name: str) -> Optional[Dict[str, Any]]:
        return next((e for e in reversed(self.events) if e["event"] == name), None)

    @property
    def path(self) -> str:
        """The template. It is there after the end of the run."""
        done = self.wait()._last("done")
        if done is None:
            raise Error("the run wrote no template")
        return str(done["model"])

    @property
    def sha256(self) -> str:
        """The SHA-256 of the template. It waits for the end of the run."""
        done = self.wait()._last("done")
        return str(done["sha256"]) if done else ""

    @property
    def checkpoint(self) -> Optional[str]:
        """The last checkpoint that was written, or None."""
        written = self._last("checkpoint")
        path = str(written["path"]) if written else None
        return path if path and os.path.exists(path) else None

    @property
    def model(self) -> Model:
        """The template as an open model, which is opened once. It waits for the end of the run."""
        if self._opened is None or self._opened.closed:
            self._opened = Model(self.path)
        return self._opened

    @property
    def recipe(self) -> Dict[str, Any]:
        """The recipe of the run."""
        start = self._last("start")
        return dict(start["recipe"]) if start else {}

    @property
    def history(self) -> Dict[str, List[Any]]:
        """Figures of the epochs so far: a list for each figure, with None where an epoch lacks it.

        ``pandas.DataFrame(run.history)`` is a table of them.
        """
        epochs = [{k: v for k, v in e.items() if isinstance(v, (int, float)) and k != "schema"}
                  for e in self.events if e["event"] == "epoch"]
        names = list(dict.fromkeys(name for e in epochs for name in e))
        return {name: [e.get(name) for e in epochs] for name in names}

    def report(self, output: "Union[None, str, os.PathLike[str]]" = None) -> Path:
        """Write the page of the run, and return its path.

        Parameters
        ----------
        output : path, optional
            The file to write; by default ``report.html`` in `log_dir`, or beside the template.
        """
        folder = self._options.get("log_dir")
        if output is None:
            output = os.path.join(folder, "report.html") if folder else _beside(self._options.get("output"))
        if folder:
            _child.run(["report", "--quiet", f"--output={os.fspath(output)}", "--", os.fspath(folder)])
            return Path(output)
        with tempfile.TemporaryDirectory(prefix="bnctl-") as work:
            lines = os.path.join(work, "run.jsonl")
            Path(lines).write_text("".join(json.dumps(e) + "\n" for e in list(self.events)))
            _child.run(["report", "--quiet", f"--output={os.fspath(output)}", "--", lines])
        return Path(output)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], problem: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self.running:
            self.stop()

    def __repr__(self) -> str:
        state = "running" if self.running else "done" if self._code == 0 else "stopped or failed"
        return f"Run({state}, {self._steps()} steps, {len(self.history.get('epoch', []))} epochs)"

    def _repr_html_(self) -> str:
        return page(self)


def _beside(template: object) -> str:
    return os.path.splitext(os.fspath(template))[0] + ".html" if template else "report.html"  # type: ignore[call-overload, no-any-return]


def _stop(child: _child.Child) -> None:
    if not child.forked and child.process.poll() is None:
        child.stop(_PATIENCE)
