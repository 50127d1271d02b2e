"""Data from Python: arrays and iterables become files that the command reads."""

from __future__ import annotations

import csv
import os
import shutil
import struct
import tempfile
import zlib
from pathlib import Path
from typing import Any, Iterable, Optional, Tuple, Union

import numpy as np

from ._errors import InputError, MisuseError
from ._inputs import array_of, is_file, picture_file, pixels_of

Array = np.ndarray[Any, Any]

#: A source in the words of the command, arrays (x, y), or an iterable of (picture, label).
Data = Union[None, str, "os.PathLike[str]", Tuple[Any, Any], Iterable[Tuple[Any, Any]]]

_MAGIC = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif", b"RIFF": ".webp", b"BM": ".bmp", b"II*\x00": ".tif",
          b"MM\x00*": ".tif", b"P5": ".pgm", b"P6": ".ppm"}


class Sources:
    """Sources of a call, with the files that were written for them."""

    def __init__(self) -> None:
        self._folder: Optional[str] = None

    def __enter__(self) -> "Sources":
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, name: str) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="bnctl-data-")
        return os.path.join(self._folder, name)

    def source(self, data: Data, field: str) -> Optional[str]:
        """Return the source of some data in the words of the command."""
        if data is None or isinstance(data, str):
            return data
        if isinstance(data, os.PathLike):
            path = os.fspath(data)
            return f"csv:{path}" if path.endswith(".csv") else f"folder:{path}"
        if isinstance(data, tuple) and len(data) == 2 and not _is_sample(data):
            return self._arrays(data[0], data[1], field)
        if isinstance(data, (np.ndarray, dict)) or not (hasattr(data, "__iter__") or hasattr(data, "__getitem__")):
            raise MisuseError(f"{field} is {type(data).__name__}; want a source as 'folder:photos', arrays (x, y), or "
                              "an iterable of (picture, label)", 2, field)
        return self._samples(data, field)

    def _arrays(self, x: Any, y: Any, field: str) -> str:
        xs, ys = array_of(x), np.asarray(y.detach().cpu() if hasattr(y, "detach") else y)
        if len(xs) != len(ys) or xs.ndim < 2:
            raise InputError(f"{field} has {len(xs)} samples and {len(ys)} labels; want one label for each", 2, field)
        if xs.dtype.kind == "f" and xs.dtype != np.float32:
            xs = xs.astype(np.float32)
        if ys.dtype.kind in "USO":
            if xs.dtype != np.uint8:
                raise InputError(f"{field} has labels as text, which arrays of {xs.dtype} cannot have; number them with "
                                 "np.unique(y, return_inverse=True)", 2, field)
            return self._samples(zip(xs, ys), field)
        if ys.dtype.kind == "f":
            raise InputError(f"{field} has labels of {ys.dtype}, and classes are whole numbers: pass y.astype(int); numbers to "
                             "learn are columns of a table: csv_columns='target=COLUMN'", 2, field)
        ys = ys.astype(np.int64)
        x_path, y_path = self._path(field + "-x.npy"), self._path(field + "-y.npy")
        np.save(x_path, np.ascontiguousarray(xs))
        np.save(y_path, np.ascontiguousarray(ys))
        return f"npy:{x_path},{y_path}"

    def _samples(self, data: Any, field: str) -> str:
        folder = Path(self._path(field))
        folder.mkdir()
        table = folder / "samples.csv"
        written = 0
        with open(table, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["path", "label"])
            for i, sample in enumerate(_each(data)):
                try:
                    picture, label = sample
                except (TypeError, ValueError):
                    raise InputError(f"sample {i} of {field} is {type(sample).__name__}; want (picture, label)", 2,
                                     field) from None
                rows.writerow([_write(picture, folder, i, field), label])
                written += 1
        if written == 0:
            raise InputError(f"{field} has no samples", 2, field)
        return f"csv:{table}"


def _is_sample(data: Tuple[Any, ...]) -> bool:
    """Return whether a tuple is two samples (picture, label), not arrays (x, y)."""
    return isinstance(data[0], tuple) and isinstance(data[1], tuple)


def _each(data: Any) -> Iterable[Any]:
    """Return the samples of an iterable, or of a data set with a length and numbers."""
    if hasattr(data, "__iter__"):
        return iter(data)  # type: ignore[no-any-return]
    return (data[i] for i in range(len(data)))


def _write(picture: Any, folder: Path, i: int, field: str) -> str:
    what = f"picture {i} of {field}"
    if isinstance(picture, np.ndarray):
        body, end = png(pixels_of(picture, what)), ".png"
    elif is_file(picture):
        body, _ = picture_file(picture, what)
        end = next((e for magic, e in _MAGIC.items() if body.startswith(magic)), "")
        if not end:
            raise InputError(f"{what} is no picture file", 2, field)
    else:
        raise InputError(f"{what} is {type(picture).__name__}; want a uint8 array, a path, bytes or a PIL image", 2, field)
    name = f"{i:08d}{end}"
    (folder / name).write_bytes(body)
    return name


def png(pixels: Array) -> bytes:
    """Return uint8 pixels as a PNG file."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    height, width = pixels.shape[:2]
    lines = np.zeros((height, 1 + pixels[0].size), np.uint8)  # each begins with its filter, 0
    lines[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 1)) + chunk(b"IEND", b"")
