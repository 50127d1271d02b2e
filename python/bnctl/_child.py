"""Processes of ``bnctl`` that never outlive this one.

Each has a pipe as its standard input, and stops when the pipe ends: at :meth:`Child.stop`, at
the exit of the interpreter, and also after ``kill -9``, since the kernel closes the pipe then.
A forked child of this process closes its copies of the pipes, so that they cannot keep the
processes alive. Each process is the leader of its own session: Ctrl-C in a terminal reaches
this process only, which decides.
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import threading
import weakref
from typing import IO, Any, Deque, Dict, List, Optional, Sequence

from . import _binary
from ._errors import Error, from_command

_lock = threading.Lock()
_children: "weakref.WeakSet[Child]" = weakref.WeakSet()


def _release_in_child() -> None:
    """Close the pipes in a forked child."""
    for child in list(_children):
        child.forget()
    _children.clear()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_release_in_child)


class Child:
    """A process of ``bnctl`` with JSON lines on its standard output."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.owner = os.getpid()
        self.errors: Deque[str] = collections.deque(maxlen=50)
        command = [_binary.find(), "--json", "--until-eof", *arguments]
        options: Dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            options = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        with _lock:
            try:
                self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                stderr=subprocess.PIPE, **options)
            except OSError as problem:
                raise Error(f"{command[0]} does not start: {problem.strerror}") from None
            _children.add(self)
        self._reader = threading.Thread(target=_collect, args=(self.process.stderr, self.errors), daemon=True)
        self._reader.start()

    @property
    def forked(self) -> bool:
        """Whether this is a forked child of the process that started it."""
        return os.getpid() != self.owner

    def forget(self) -> None:
        """Release all that a forked child has of the process."""
        self.process.returncode = 0  # it is no child of this process
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                try:
                    os.close(pipe.fileno())
                except (OSError, ValueError):
                    pass

    def line(self) -> Optional[Dict[str, Any]]:
        """Return the next line of the output, or None at its end."""
        assert self.process.stdout is not None
        while True:
            text = self.process.stdout.readline()
            if not text:
                return None
            try:
                value: Dict[str, Any] = json.loads(text)
            except ValueError:
                continue
            return value

    def stop(self, patience: float = 15.0) -> int:
        """End the input of the process, wait for its end, and return its exit code.

        Work that is under way is finished, and a run leaves a checkpoint. After `patience`
        seconds the process is killed.
        """
        if self.forked:
            return 0
        close(self.process.stdin)
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        except BaseException:  # a second Ctrl-C
            self.process.kill()
            raise
        self._reader.join(1)
        return code

    def wait(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        code = self.process.wait()
        self._reader.join(1)
        close(self.process.stdin)
        return code

    def failure(self, code: int) -> Error:
        """Return the exception for a process that ended with this code."""
        for text in reversed(self.errors):
            try:
                value = json.loads(text)
            except ValueError:
                continue
            if isinstance(value, dict) and value.get("event") == "error":
                return from_command(str(value["error"]), str(value.get("advice", "")), code)
        if self.errors and self.errors[-1].startswith("bnctl: --"):  # a flag whose text is no value of its kind
            return from_command(self.errors[-1][len("bnctl: "):], "", code)
        last = "".join("; " + text for text in list(self.errors)[-1:] if code >= 0)  # a killed process gave no reason
        return from_command(f"bnctl ended {ending(code)}{last}", "", code)

    def notes(self) -> List[str]:
        """Return the last notes of the process."""
        return [text for text in self.errors if not text.startswith("{")]


def ending(code: int) -> str:
    """Return the words for an exit code."""
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"


def close(pipe: "Optional[IO[bytes]]") -> None:
    """Close a pipe whose other end may be gone."""
    if pipe is not None:
        try:
            pipe.close()
        except OSError:
            pass


def _collect(pipe: "IO[bytes]", lines: "Deque[str]") -> None:
    try:
        for text in pipe:
            lines.append(text.decode("utf-8", "replace").rstrip())
    except (OSError, ValueError):
        pass


def run(arguments: Sequence[str], healthy: Sequence[int] = (0,)) -> List[Dict[str, Any]]:
    """Run a command to its end, and return its JSON lines.

    Raises
    ------
    Error
        If the exit code is not in `healthy`.
    """
    child = Child(arguments)
    events = []
    try:
        for event in iter(child.line, None):
            events.append(event)
        code = child.wait()
    except BaseException:
        child.stop()
        raise
    finally:
        close(child.process.stdout)
    if code not in healthy:
        raise child.failure(code)
    return events
