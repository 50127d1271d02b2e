"""Inputs of a model: checks, and the forms in which they are sent."""

from __future__ import annotations

import io
import os
from typing import Any, List, Mapping, Sequence, Tuple, Union

import numpy as np

from ._errors import InputError
from ._prediction import TensorInfo

Array = np.ndarray[Any, Any]
Picture = Union[str, "os.PathLike[str]", bytes, Any]  # Any: numpy.ndarray or PIL.Image.Image


def is_pil(x: object) -> bool:
    """Return whether `x` is a picture of Pillow, without importing it."""
    return any(t.__module__ == "PIL.Image" and t.__name__ == "Image" for t in type(x).__mro__)


def is_file(x: object) -> bool:
    """Return whether `x` is the path or the bytes of a picture file, or a picture of Pillow."""
    return isinstance(x, (str, os.PathLike, bytes, bytearray, memoryview)) or is_pil(x)


def array_of(x: Any) -> Array:
    """Return numbers as an array: of numpy, of PyTorch, or nested lists."""
    if hasattr(x, "detach") and hasattr(x, "cpu"):  # a tensor of PyTorch
        x = x.detach().cpu()
    try:
        array = np.asarray(x)
    except (TypeError, ValueError) as problem:
        raise InputError(f"the input is no array: {problem}; all rows need the same length") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"the input is {_a(x)} of {array.dtype}, not numbers; "
                         "pass a numpy array, paths, bytes of picture files or PIL images")
    return array


def _a(x: object) -> str:
    return "an " + type(x).__name__ if type(x).__name__[0] in "aeiou" else "a " + type(x).__name__


def ppm(pixels: Array) -> bytes:
    """Return uint8 pixels [H, W], [H, W, 1] or [H, W, 3] as a file, without a loss."""
    grey = pixels.ndim == 2 or pixels.shape[2] == 1
    head = f"P{5 if grey else 6}\n{pixels.shape[1]} {pixels.shape[0]}\n255\n".encode()
    return head + np.ascontiguousarray(pixels).tobytes()


def picture_file(x: Picture, what: str) -> Tuple[bytes, str]:
    """Return a picture as the bytes of a file, and its name for messages."""
    if isinstance(x, (bytes, bytearray, memoryview)):
        return bytes(x), what
    if isinstance(x, np.ndarray):
        return ppm(pixels_of(x, what)), what
    if is_pil(x):
        return _of_pillow(x), what
    path = os.fspath(x)
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder; pass its files: sorted(pathlib.Path({str(path)!r}).glob('*.jpg'))")
    try:
        with open(path, "rb") as file:
            return file.read(), path
    except OSError as problem:
        raise InputError(f"{path}: {(problem.strerror or str(problem)).lower()}") from None
    except ValueError as problem:  # a null character
        raise InputError(f"{path!r}: {problem}") from None


def pixels_of(x: Array, what: str) -> Array:
    """Return an array that is one picture, or raise InputError."""
    if x.dtype != np.uint8 or not (x.ndim == 2 or x.ndim == 3 and x.shape[2] in (1, 3)) or x.size == 0:
        raise InputError(f"{what} is {x.dtype}{list(x.shape)}; a picture is uint8 [height, width, 3] or [height, width]")
    return x


def _of_pillow(image: Any) -> bytes:
    if image.mode in ("RGB", "L"):
        return ppm(np.asarray(image))
    file = io.BytesIO()
    if image.mode not in ("RGBA", "LA", "P", "1", "I;16"):
        image = image.convert("RGB")
    image.save(file, "PNG")
    return file.getvalue()


class Rows:
    """Rows that are sent as they are: an array for each input, all of the same length."""

    def __init__(self, arrays: Sequence[Array], single: bool) -> None:
        self.arrays = tuple(arrays)
        self.single = single

    def __len__(self) -> int:
        return len(self.arrays[0])

    def bytes_of_row(self) -> int:
        """Return the size of a row of all inputs."""
        return sum(a[:1].nbytes for a in self.arrays)

    def parts(self, size: int) -> "List[Tuple[Array, ...]]":
        """Return the rows in parts of at most `size`."""
        return [tuple(a[i:i + size] for a in self.arrays) for i in range(0, len(self), size)]


class Files:
    """Pictures that the program decodes, and resizes as the model says."""

    def __init__(self, pictures: Sequence[Picture], single: bool) -> None:
        self.pictures = pictures
        self.single = single


def prepare(x: Any, to: TensorInfo, pictures: bool) -> "Union[Rows, Files]":
    """Return an input in the form in which it is sent to a model with the input `to`.

    Raises
    ------
    InputError
        If the input is not what the model accepts.
    """
    if isinstance(x, (str, os.PathLike)) and os.fspath(x).endswith(".npy"):
        x = _load(os.fspath(x))
    if is_file(x):
        _want_pictures(pictures, to)
        return Files([x], True)
    if isinstance(x, (list, tuple)) and x and (is_file(x[0]) or _is_list_of_pictures(x, to, pictures)):
        _want_pictures(pictures, to)
        for i, item in enumerate(x):
            if not is_file(item) and not isinstance(item, np.ndarray):
                raise InputError(f"element {i} is {_a(item)}; the others are pictures")
        return Files(x, False)
    array = array_of(x)
    return _pixels(array, to) if pictures and to.dtype == np.uint8 else _numbers(array, to)


def named(x: Mapping[str, Any], inputs: "Sequence[TensorInfo]") -> Rows:
    """Return the inputs of a model with several, by their names.

    Raises
    ------
    InputError
        If one is missing, unknown, or not what the model accepts.
    """
    rows = []
    for to in inputs:
        value = x[to.name]
        if isinstance(value, (str, os.PathLike)) and os.fspath(value).endswith(".npy"):
            value = _load(os.fspath(value))
        if is_file(value):
            raise InputError(f"input {to.name} is {_a(value)}; the model accepts {to.dtype} {shape_text(to)}, an array")
        rows.append(_numbers(array_of(value), to, f"input {to.name}"))
    first = rows[0]
    for r, to in zip(rows, inputs):
        if r.single != first.single:
            raise InputError(f"inputs {inputs[0].name} and {to.name}: one has an axis of samples, the other has not; "
                             "give it to both, or to none")
        if len(r) != len(first):
            raise InputError(f"input {to.name} has {len(r)} samples, and input {inputs[0].name} has {len(first)}; "
                             "give the same number for each")
    return Rows([r.arrays[0] for r in rows], first.single)


def _load(path: str) -> Array:
    try:
        loaded: Array = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file or directory") from None
    except (OSError, ValueError, EOFError) as problem:
        raise InputError(f"{path} is no .npy file: {problem}") from None
    return loaded


def _is_list_of_pictures(x: Sequence[Any], to: TensorInfo, pictures: bool) -> bool:
    return pictures and to.dtype == np.uint8 and all(
        isinstance(a, np.ndarray) and a.dtype == np.uint8 and a.ndim in (2, 3) for a in x)


def _want_pictures(pictures: bool, to: TensorInfo) -> None:
    if not pictures:
        raise InputError(f"the model accepts no pictures, but {to.dtype} {shape_text(to)}: how pixels become numbers is "
                         "not known; open it with preprocess='imagenet', 'unit' or 'raw', or pass an array",
                         field="preprocess")


def shape_text(to: TensorInfo) -> str:
    """Return the shape of an input for messages: ``[N, 3, 224, 224]``."""
    return "[" + ", ".join("N" if n is None else str(n) for n in to.shape) + "]"


def _pixels(x: Array, to: TensorInfo) -> "Union[Rows, Files]":
    row = tuple(n for n in to.shape[1:] if n is not None)
    wants = f"the model accepts uint8 {shape_text(to)}"
    if x.dtype.kind == "f":
        raise InputError(f"the input is {x.dtype}; {wants} and normalises pixels itself; pass pixels from 0 to 255 as "
                         "uint8, or open it with preprocess='none' for numbers that are normalised already")
    if x.dtype != np.uint8:
        if x.size and (x.min() < 0 or x.max() > 255):
            raise InputError(f"the input is {x.dtype} from {x.min()} to {x.max()}; {wants}, pixels from 0 to 255")
        x = x.astype(np.uint8)
    if x.shape[1:] == row:
        return Rows([np.ascontiguousarray(x)], False)
    if x.shape == row or row[-1] == 1 and x.shape == row[:-1]:
        return Rows([np.ascontiguousarray(x).reshape((1,) + row)], True)
    if row[-1] == 1 and x.ndim == 3 and x.shape[1:] == row[:-1]:
        return Rows([np.ascontiguousarray(x).reshape((-1,) + row)], False)
    if x.ndim == 4 and x.shape[3] in (1, 3):
        return Files(list(x), False)
    if x.ndim == 4 and x.shape[1] in (1, 3):
        raise InputError(f"the input is uint8 {list(x.shape)}, with channels in front; {wants}; "
                         "pass x.transpose(0, 2, 3, 1)")
    if x.ndim == 2 or x.ndim == 3 and x.shape[2] in (1, 3):
        return Files([x], True)
    raise InputError(f"the input is uint8 {list(x.shape)}; {wants}, or pictures of other sizes as [N, height, width, 3]")


def _numbers(x: Array, to: TensorInfo, what: str = "the input") -> Rows:
    row = tuple(n for n in to.shape[1:] if n is not None)
    wants = f"the model accepts {to.dtype} {shape_text(to)}"
    if x.dtype != to.dtype:
        x = _converted(x, to, wants, what, len(row))
    if x.shape[1:] == row and x.ndim == len(row) + 1:
        return Rows([np.ascontiguousarray(x)], False)
    if x.shape == row:
        return Rows([np.ascontiguousarray(x).reshape((1,) + row)], True)
    remedy = _remedy(x.shape, row)
    raise InputError(f"{what} has the shape {list(x.shape)}; {wants}{remedy}")


def _remedy(shape: Tuple[int, ...], row: Tuple[int, ...]) -> str:
    if len(row) == 3 and len(shape) == 4 and (shape[3], shape[1], shape[2]) == row:
        return "; pass x.transpose(0, 3, 1, 2): the channels are last"
    if len(row) == 3 and len(shape) == 3 and (shape[2], shape[0], shape[1]) == row:
        return "; pass x.transpose(2, 0, 1): the channels are last"
    if shape[2:] == row and len(shape) > 2 and shape[1] == 1:
        return "; pass x[:, 0]: there is an axis too many"
    return ""


def _converted(x: Array, to: TensorInfo, wants: str, what: str, axes: int) -> Array:
    if x.dtype.kind == "f" and to.dtype.kind == "f":
        return x.astype(to.dtype)
    if x.dtype == np.uint8 and axes == 3:
        raise InputError(f"{what} is uint8, and {wants}: how pixels become numbers is not known; "
                         "open it with preprocess='imagenet', 'unit' or 'raw', or pass the numbers", field="preprocess")
    with np.errstate(all="ignore"):
        converted = x.astype(to.dtype)
        same = converted.astype(x.dtype) == x
    if not same.all():
        raise InputError(f"{what} is {x.dtype}, and {wants}: {int((~same).sum())} of its numbers would change")
    return converted
