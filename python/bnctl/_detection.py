"""Objects that a detector finds."""

from __future__ import annotations

import html
import io
import os
from dataclasses import dataclass
from typing import Any, List, Tuple

import numpy as np

from ._errors import MisuseError
from ._inputs import Picture, is_pil


@dataclass(frozen=True)
class Box:
    """An object in a picture.

    Attributes
    ----------
    label : str
        The name of its class.
    index : int
        The number of its class.
    score : float
        How sure the detector is, from 0 to 1.
    corners : tuple of float
        x1, y1, x2, y2 in pixels of the picture, from 0 to its width or height.
    """

    label: str
    index: int
    score: float
    corners: Tuple[float, ...]


@dataclass(frozen=True)
class Detection:
    """The objects in one picture.

    Attributes
    ----------
    boxes : list of Box
        The highest score first.
    width, height : int
        Of the picture, in pixels.
    """

    boxes: List[Box]
    width: int
    height: int
    _picture: Picture

    def draw(self) -> Any:
        """Return the picture with the boxes, their labels and scores, as a PIL.Image.Image of mode RGB.

        Raises
        ------
        MisuseError
            If Pillow is not installed.
        """
        try:
            from PIL import Image, ImageDraw, ImageOps
        except ImportError:
            raise MisuseError("draw needs Pillow; install it: pip install pillow") from None
        picture: Any = self._picture
        if not is_pil(picture):
            of_pixels = isinstance(picture, np.ndarray)
            picture = Image.fromarray(np.squeeze(picture)) if of_pixels else Image.open(_file(picture))
        if picture.size != (self.width, self.height):
            picture = ImageOps.exif_transpose(picture)  # the model reads it upright
        picture = picture.convert("RGB")
        pen = ImageDraw.Draw(picture)
        thickness = max(1, min(self.width, self.height) // 200)
        for box in reversed(self.boxes):  # the highest score is on top
            colour = _COLOURS[box.index % len(_COLOURS)]
            pen.rectangle(box.corners, outline=colour, width=thickness)
            pen.text((box.corners[0] + thickness + 1, box.corners[1] + thickness), f"{box.label} {box.score:.2f}", fill=colour)
        return picture

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(b.label)}</td><td>{b.score:.2f}</td><td>"
                       f"{', '.join(f'{v:.0f}' for v in b.corners)}</td></tr>" for b in self.boxes)
        return f"<table><tr><th>object</th><th>score</th><th>x1, y1, x2, y2</th></tr>{rows}</table>"


_COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#17becf", "#e377c2", "#bcbd22")


def _file(picture: Any) -> Any:
    return io.BytesIO(bytes(picture)) if isinstance(picture, (bytes, bytearray, memoryview)) else os.fspath(picture)
