"""Requests to the server of a model, over its private socket.

The server is always bnctl's: every answer has a Content-Length. Elements of tensors go to and
from the socket without a copy.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import threading
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple, Union

import numpy as np

from ._errors import Error, InputError, ServerError

Bytes = Union[bytes, memoryview]
Array = np.ndarray[Any, Any]

DTYPES = {"FP32": "<f4", "FP64": "<f8", "FP16": "<f2", "UINT8": "u1", "INT8": "i1", "BOOL": "?", "INT16": "<i2",
          "UINT16": "<u2", "INT32": "<i4", "UINT32": "<u4", "INT64": "<i8", "UINT64": "<u8"}

_SEND_BUFFER = 1 << 20  # a picture of 224x224 in float32 without a wait, where the system allows it


def bytes_of(array: Array) -> memoryview:
    """Return the memory of a contiguous array as bytes."""
    view: Any = array.reshape(-1).view(np.uint8)
    return memoryview(view)


class Refused(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


class Connection:
    """One connection. It has one request at a time."""

    def __init__(self, address: str, token: str) -> None:
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
            self.socket.connect(address[len("unix:"):])
        else:
            host, _, port = address.rpartition(":")
            self.socket = socket.create_connection((host, int(port)))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        self._headers = "Host: localhost\r\n" + (f"Authorization: Bearer {token}\r\n" if token else "")

    def close(self) -> None:
        """Close the connection. A thread that waits for an answer gets an error."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def send(self, method: str, path: str, headers: str, parts: Sequence[Bytes]) -> None:
        """Send a request with a body of several parts."""
        length = sum(len(part) for part in parts)
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}{headers}Content-Length: {length}\r\n\r\n".encode()
        if not hasattr(self.socket, "sendmsg"):  # Windows
            self.socket.sendall(b"".join([head, *parts]))
            return
        views = [memoryview(part) for part in (head, *parts)]
        sent = self.socket.sendmsg(views)  # in one call, without a copy
        for view in views:
            if sent < len(view):
                self.socket.sendall(view[sent:])
            sent = max(0, sent - len(view))

    def receive(self) -> Tuple[int, Dict[str, str]]:
        """Read the head of an answer, and return its status and headers."""
        data = self._rest
        while b"\r\n\r\n" not in data:
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError("the connection ended")
            data += more
        head, self._rest = data.split(b"\r\n\r\n", 1)
        return _head(head)

    def fill(self, view: memoryview) -> None:
        """Read the next bytes of a body into all of `view`."""
        have = min(len(view), len(self._rest))
        view[:have] = self._rest[:have]
        self._rest = self._rest[have:]
        while have < len(view):
            n = self.socket.recv_into(view[have:])
            if n == 0:
                raise ConnectionError("the connection ended")
            have += n


class Client:
    """Connections to one server, one for each thread that asks at the time."""

    def __init__(self, address: str, token: str = "") -> None:
        self._address = address
        self._token = token
        self._idle: List[Connection] = []
        self._busy: Set[Connection] = set()
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Close all connections, also those with a request under way."""
        with self._lock:
            self._closed = True
            connections = self._idle + list(self._busy)
            self._idle = []
        for connection in connections:
            connection.close()

    def abort(self) -> None:
        """Close the connections with a request under way."""
        with self._lock:
            connections = list(self._busy)
        for connection in connections:
            connection.close()

    def forget(self) -> None:
        """Close the connections of a forked child, and leave those of its parent open."""
        for connection in self._idle + list(self._busy):
            connection.socket.close()

    def _acquire(self) -> Connection:
        with self._lock:
            if self._closed:
                raise ConnectionError("the model was closed")
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = Connection(self._address, self._token)
        with self._lock:
            self._busy.add(connection)
        return connection

    def _release(self, connection: Connection) -> None:
        with self._lock:
            self._busy.discard(connection)
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def ask(self, method: str, path: str, headers: str = "",
            parts: Sequence[Bytes] = ()) -> Tuple[Dict[str, Any], List[Array]]:
        """Send a request, and return the JSON of the answer with the tensors that follow it."""
        connection = self._acquire()
        try:
            connection.send(method, path, headers, parts)
            status, received = connection.receive()
            answer = _read(connection, received)
        except BaseException:  # also an interrupt: the rest of the answer would be taken for the next one
            with self._lock:
                self._busy.discard(connection)
            connection.close()
            raise
        if received.get("connection", "").lower() == "close":
            with self._lock:
                self._busy.discard(connection)
            connection.close()
        else:
            self._release(connection)
        if status != 200:
            raise Refused(status, str(answer[0].get("error", f"status {status}")))
        return answer


def _read(connection: Connection, headers: Dict[str, str]) -> Tuple[Dict[str, Any], List[Array]]:
    length = int(headers["content-length"])
    text = bytearray(int(headers.get("inference-header-content-length", length)))
    connection.fill(memoryview(text))
    answer = _parsed(bytes(text))
    tensors = []
    if len(text) < length:
        for output in answer["outputs"]:
            tensor = np.empty(output["shape"], DTYPES[output["datatype"]])
            if tensor.size:
                connection.fill(bytes_of(tensor))
            tensors.append(tensor)
    return answer, tensors


@functools.lru_cache(64)
def _head(head: bytes) -> Tuple[int, Dict[str, str]]:
    """Return status and headers of an answer. The caller changes nothing: answers of a second have the same."""
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines)
    return int(first.split(" ", 2)[1]), {name.lower(): value.strip() for name, _, value in fields}


@functools.lru_cache(64)
def _parsed(text: bytes) -> Dict[str, Any]:
    """Return the JSON of an answer. Most answers of a model have the same; the caller changes nothing in it."""
    try:
        answer: Dict[str, Any] = json.loads(text)
    except ValueError:
        answer = {"error": text.decode("utf-8", "replace")}
    return answer


def private_address() -> Tuple[str, str]:
    """Return the address for a new server, and a token where the address alone does not protect it."""
    import secrets
    import tempfile

    if not hasattr(socket, "AF_UNIX"):
        return "127.0.0.1:0", secrets.token_hex(32)
    name = f"bnctl-{os.getpid()}-{secrets.token_hex(8)}.sock"
    for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        path = os.path.join(os.path.abspath(folder), name)
        if len(os.fsencode(path)) <= 103 and os.path.isdir(folder):
            return "unix:" + path, ""
    raise Error("there is no folder for temporary files with a short name; set TMPDIR to /tmp")


def failure(problem: Refused, what: Optional[str] = None) -> Error:
    """Return the exception for an answer other than 200."""
    sentence = problem.sentence if what is None else f"{what}: {problem.sentence}"
    if problem.status in (400, 413):
        return InputError(sentence)
    return ServerError(sentence)
