"""Messages with tensors, in chunks of at most 1 MiB."""
import numpy as np

from . import device_pb2 as pb

CHUNK = 1 << 20

DTYPES = {
    pb.DTYPE_F32: np.dtype("<f4"), pb.DTYPE_F64: np.dtype("<f8"), pb.DTYPE_I32: np.dtype("<i4"),
    pb.DTYPE_I64: np.dtype("<i8"), pb.DTYPE_U8: np.dtype("u1"),
}
NUMBERS = {v: k for k, v in DTYPES.items()}


def receive(requests):
    """Returns the next message and its tensors; (None, None) at the end."""
    message = next(requests, None)
    if message is None:
        return None, None
    sizes = [DTYPES[t.dtype].itemsize * int(np.prod(t.shape, dtype=np.int64)) for t in message.tensors]
    data = bytearray(message.data)
    while len(data) < sum(sizes):
        data += next(requests).data
    tensors, at = [], 0
    for t, size in zip(message.tensors, sizes):
        tensors.append(np.frombuffer(data, DTYPES[t.dtype], size // DTYPES[t.dtype].itemsize, at).reshape(t.shape))
        at += size
    return message, tensors


def send(message, tensors=()):
    """Yields the message and what does not fit into it."""
    data = b""
    for t in tensors:
        message.tensors.append(header(t))
        data += np.ascontiguousarray(t).tobytes()
    message.data = data[:CHUNK]
    yield message
    for at in range(CHUNK, len(data), CHUNK):
        yield pb.Message(call=message.call, data=data[at:at + CHUNK])


def header(t):
    return pb.Tensor(dtype=NUMBERS[t.dtype], shape=t.shape)
