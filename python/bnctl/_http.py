"""Requests to the server of a model, over its private socket.

The server is always bnctl's: every answer has a Content-Length. Elements of tensors go to and
from the socket without a copy.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import struct
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, TypeVar, Union

import numpy as np

from ._errors import Error, InputError, ServerError

Bytes = Union[bytes, memoryview]
Array = np.ndarray[Any, Any]
Tensors = Dict[str, Array]
Answer = Tuple[Dict[str, Any], Tensors]
_T = TypeVar("_T")

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
        self.ended = False  # the server closes it after the last answer
        self.aborted = False  # it was closed on purpose
        self._rest = b""
        self._headers = "Host: localhost\r\n" + (f"Authorization: Bearer {token}\r\n" if token else "")

    def close(self) -> None:
        """Close the connection. A thread that waits for an answer gets an error."""
        self.aborted = True
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def ask(self, method: str, path: str, body: Bytes) -> Answer:
        """Send a request, and return the JSON of the answer with the tensors that follow it."""
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}Content-Length: {len(body)}\r\n\r\n"
        self.send(head.encode(), body)
        status, received = self.receive()
        length = int(received["content-length"])
        answer = self.body(int(received.get("inference-header-content-length", length)), length)
        self.ended = received.get("connection", "").lower() == "close"
        if status != 200:
            raise Refused(status, str(answer[0].get("error", f"status {status}")))
        return answer

    def send(self, *parts: Bytes) -> None:
        """Send parts in one call, without a copy where the system can."""
        if not _SCATTERS:
            self.socket.sendall(b"".join(parts))
            return
        sent = self.socket.sendmsg(parts)
        for part in parts:
            view = memoryview(part)
            if sent < view.nbytes:
                self.socket.sendall(view.cast("B")[sent:])
            sent = max(0, sent - view.nbytes)

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


    def body(self, head: int, length: int) -> Answer:
        """Read JSON of `head` bytes, and the tensors after it up to `length` bytes."""
        text = bytearray(head)
        self.fill(memoryview(text))
        answer = _parsed(bytes(text))
        tensors: Tensors = {}
        if head < length:
            for output in answer["outputs"]:
                tensor = np.empty(output["shape"], DTYPES[output["datatype"]])
                if tensor.size:
                    self.fill(bytes_of(tensor))
                tensors[output["name"]] = tensor
        return answer, tensors


class Stream(Connection):
    """A connection for rows, which HTTP has handed over: server/rowstream.go describes its messages.

    Little is done around the rows: after some milliseconds of computing no code or data of this process is left in
    the processor's cache, and each line costs microseconds.
    """

    def __init__(self, address: str, token: str, path: str) -> None:
        super().__init__(address, token)
        try:
            self.send(f"GET {path} HTTP/1.1\r\n{self._headers}Connection: Upgrade\r\nUpgrade: bnctl-rows\r\n\r\n".encode())
            status, received = self.receive()
            if status != 101:
                length = int(received["content-length"])
                raise Refused(status, str(self.body(length, length)[0].get("error")))
        except BaseException:
            self.close()
            raise
        self._shares = _SHARES and received.get("bnctl-shared-memory") == "1"
        self._memory: Optional[Array] = None  # elements that the server reads without a copy through the socket
        self._prefix = bytearray(_PREFIX)
        self._size = 0  # bytes of the tensors of the last answer
        self._outputs: List[Tuple[str, Tuple[int, ...], "np.dtype[Any]", int]] = []  # their names, shapes, types and places
        self._aligned = True

    def rows(self, head: bytes, size: int, arrays: Sequence[Any]) -> Tensors:
        """Send contiguous arrays of so many bytes, and return the tensors of the answer.

        Most answers have the types and shapes of the one before: they are read in one call.
        """
        if self._shares and size >= _LEAST_SHARED and not head and self._share(size, arrays[0]):
            try:
                return self._answer()
            except Refused as problem:
                if problem.status != 501:
                    raise
                self._shares, self._memory = False, None
        self.send(_ASK.pack(len(head), 0, len(head) + size), head, *map(memoryview, arrays))
        return self._answer()

    def _share(self, size: int, array: Array) -> bool:
        """Send a request with its elements in shared memory. Return False if there is none, and nothing was sent."""
        memory, handle = self._memory, -1
        if memory is None or len(memory) < size:
            try:
                handle, memory = _shared_memory(size)
            except OSError:
                self._shares = False
                return False
            self._memory = memory
        try:
            memory[:size] = array.reshape(-1).view(np.uint8)
            message = _ASK.pack(0, 1, size)
            if handle < 0:
                self.socket.sendall(message)
            else:
                self.socket.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", handle))])
        finally:
            if handle >= 0:
                os.close(handle)
        return True

    def _answer(self) -> Tensors:
        """Return the tensors of the next answer."""
        prefix = self._prefix
        body: Any = np.empty(self._size, np.uint8)
        n = self.socket.recvmsg_into((prefix, body))[0] if _SCATTERS else self.socket.recv_into(prefix)
        if n == 0:
            raise ConnectionError("the connection ended")
        if n < _PREFIX:
            self.fill(memoryview(prefix)[n:])
        json_size, status, size = _ANSWERED.unpack(prefix)
        have = max(0, n - _PREFIX)
        if json_size or status != 200 or size != self._size:
            self._rest = body[:have].tobytes()
            answer, tensors = self.body(json_size, size)
            if status != 200:
                raise Refused(status, str(answer.get("error", f"status {status}")))
            self._learn(tensors)
            return tensors
        if have < size:
            self.fill(memoryview(body)[have:])
        tensors = {name: np.ndarray(shape, dtype, body, at) for name, shape, dtype, at in self._outputs}
        return tensors if self._aligned else {name: tensor.copy() for name, tensor in tensors.items()}

    def _learn(self, tensors: Tensors) -> None:
        """Keep what the next answer repeats."""
        self._size, self._outputs, self._aligned = 0, [], True
        for name, tensor in tensors.items():
            self._outputs.append((name, tensor.shape, tensor.dtype, self._size))
            self._aligned = self._aligned and self._size % tensor.dtype.itemsize == 0
            self._size += tensor.nbytes


def _shared_memory(size: int) -> Tuple[int, Array]:
    """Return a descriptor of new memory, and the memory. It disappears with the processes that have it.

    Its length is fixed and its pages are allocated, so that neither process can fault.
    """
    handle = os.memfd_create("bnctl-rows", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.posix_fallocate(handle, 0, size)
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        memory: Array = np.frombuffer(mmap.mmap(handle, size), np.uint8)
    except BaseException:
        os.close(handle)
        raise
    return handle, memory


try:
    import fcntl
    import mmap

    _SHARES = hasattr(os, "memfd_create") and hasattr(fcntl, "F_ADD_SEALS")
except ImportError:  # Windows
    _SHARES = False
_LEAST_SHARED = 64 << 10  # bytes of a request from which on shared memory is faster than the socket
_ASK = struct.Struct("<IIQ")
_ANSWERED = struct.Struct("<IIQ")
_PREFIX = _ASK.size
_SCATTERS = hasattr(socket.socket, "recvmsg_into")  # not on Windows


class Client:
    """Connections to one server, one of each kind for each thread that asks at the time."""

    def __init__(self, address: str, token: str, rows: str) -> None:
        self._address = address
        self._open: Tuple[Callable[[], Connection], ...] = (lambda: Connection(address, token),
                                                            lambda: Stream(address, token, rows))
        self._idle: Tuple[List[Connection], ...] = ([], [])  # connections of each kind
        self._busy: Set[Connection] = set()
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Close all connections, also those with a request under way."""
        with self._lock:
            self._closed = True
            connections = [*self._idle[0], *self._idle[1], *self._busy]
            for idle in self._idle:
                idle.clear()
        for connection in connections:
            connection.close()

    def ask(self, method: str, path: str, body: Bytes = b"") -> Answer:
        """Send a request, and return the JSON of the answer with the tensors that follow it."""
        return self._on(0, Connection.ask, method, path, body)

    def rows(self, head: bytes, size: int, arrays: Sequence[Array]) -> Tensors:
        """Send contiguous arrays of so many bytes, and return the tensors of the answer.

        The head is the JSON of a request; rows of the only input need none.
        """
        return self._on(1, Stream.rows, head, size, arrays)

    def _on(self, kind: int, ask: Callable[..., _T], *arguments: Any) -> _T:
        """Call `ask` with a connection that nobody else uses meanwhile.

        The server may have closed one that was idle: then `ask` is called with a new one. To compute rows twice
        changes nothing.
        """
        while True:
            connection, kept = self._acquire(kind)
            try:
                answer = ask(connection, *arguments)
            except Refused:
                self._release(kind, connection)
                raise
            except OSError:
                self._drop(connection)
                if not kept or connection.aborted:
                    raise
            except BaseException:  # also an interrupt: the rest of the answer would be taken for the next one
                self._drop(connection)
                raise
            else:
                self._release(kind, connection)
                return answer

    def _acquire(self, kind: int) -> Tuple[Connection, bool]:
        """Return a connection, and whether it was kept from an earlier call."""
        with self._lock:
            if self._closed:
                raise ConnectionError("the model was closed")
            if self._idle[kind]:
                connection = self._idle[kind].pop()
                self._busy.add(connection)
                return connection, True
        connection = self._open[kind]()
        with self._lock:
            self._busy.add(connection)
        return connection, False

    def _drop(self, connection: Connection) -> None:
        with self._lock:
            self._busy.discard(connection)
        connection.socket.close()

    def _release(self, kind: int, connection: Connection) -> None:
        with self._lock:
            self._busy.discard(connection)
            if not self._closed and not connection.ended:
                self._idle[kind].append(connection)
                return
        connection.close()


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
