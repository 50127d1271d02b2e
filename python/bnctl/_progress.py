"""The progress of a run, in terminals and in notebooks."""

from __future__ import annotations

import html
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    from ._run import Run


class Progress:
    """Shows a run: a line that is drawn again in a terminal, an output that is updated in a notebook."""

    def __init__(self, run: "Run", wanted: Optional[bool]) -> None:
        self._run = run
        self._handle: Any = None
        self._drawn = 0.0
        self._width = 0
        self._terminal = False
        if wanted is False:
            return
        if _in_notebook():
            from IPython.display import HTML, display

            self._html = HTML
            self._handle = display(HTML("<p>bnctl: the run begins</p>"), display_id=True)
        else:
            self._terminal = bool(wanted) or sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def show(self, event: Dict[str, Any]) -> None:
        """Draw the state after an event, a few times a second at most."""
        if event["event"] not in ("start", "step", "epoch", "done"):
            return
        now = time.monotonic()
        if event["event"] == "step" and now - self._drawn < 0.2:
            return
        self._drawn = now
        try:
            if self._handle is not None:
                self._handle.update(self._html(page(self._run)))
            elif self._terminal:
                self._line(line(self._run), event["event"] == "epoch")
        except (OSError, ValueError):  # the terminal is gone: the run goes on
            self._terminal, self._handle = False, None

    def _line(self, text: str, keep: bool) -> None:
        sys.stderr.write("\r" + text.ljust(self._width) + ("\n" if keep else ""))
        sys.stderr.flush()
        self._width = 0 if keep else len(text)

    def end(self) -> None:
        """Draw the last state."""
        self._drawn = 0
        try:
            if self._handle is not None:
                self._handle.update(self._html(page(self._run)))
            elif self._terminal and self._width:
                self._line("", False)
                sys.stderr.write("\r")
        except (OSError, ValueError):
            pass


def _in_notebook() -> bool:
    """Return whether this is a kernel of Jupyter. IPython is not imported for it."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _state(run: "Run") -> Dict[str, Any]:
    """Return the figures of the last events."""
    state: Dict[str, Any] = {"step": 0, "total": 0}
    for event in list(run.events):
        if event["event"] == "start":
            state["total"] = event.get("total_steps", 0)
        elif event["event"] == "step":
            state.update(step=event["step"], loss=event.get("loss"), rate=event.get("images_per_s"))
        elif event["event"] == "epoch":
            state.update({k: event.get(k) for k in ("epoch", "train_loss", "val_loss", "val_accuracy", "train_accuracy")})
        elif event["event"] == "done":
            state.update(step=event["steps"], sha256=event["sha256"], model=event["model"])
    return state


def line(run: "Run") -> str:
    """Return the state of a run in one line."""
    s = _state(run)
    parts = [f"step {s['step']}/{s['total']}"]
    parts += [f"{name.replace('_', ' ')} {s[name]:.4f}" for name in ("loss", "val_loss", "val_accuracy") if s.get(name) is not None]
    if s.get("rate"):
        parts.append(f"{s['rate']:.0f} samples/s")
    return "  ".join(parts)


def page(run: "Run") -> str:
    """Return the state of a run as HTML: a bar, the figures of the epochs, and the curves of the losses."""
    s = _state(run)
    share = 100 * s["step"] / s["total"] if s["total"] else 0
    bar = ("<div style='width:24em;background:#8884'><div style='height:0.6em;background:#3a78c2;"
           f"width:{min(share, 100):.1f}%'></div></div>")
    names = ["epoch", "train_loss", "train_accuracy", "val_loss", "val_accuracy"]
    history = run.history
    names = [n for n in names if any(v is not None for v in history.get(n, []))]
    head = "".join(f"<th>{n.replace('_', ' ')}</th>" for n in names)
    rows = "".join("<tr>" + "".join(f"<td>{_number(history[n][i])}</td>" for n in names) + "</tr>"
                   for i in range(len(history.get("epoch", [])))[-10:])
    wrote = f"<p>wrote {html.escape(s['model'])}, sha256 {s['sha256']}</p>" if "model" in s else ""
    return f"<div><p>{html.escape(line(run))}</p>{bar}<table><tr>{head}</tr>{rows}</table>{curves(history)}{wrote}</div>"


def _number(value: Any) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.4f}"


def curves(history: Dict[str, List[Any]]) -> str:
    """Return the losses of training and validation over the epochs, as SVG."""
    lines = [(history.get(n, []), colour) for n, colour in (("train_loss", "#3a78c2"), ("val_loss", "#c2603a"))]
    values = [v for points, _ in lines for v in points if isinstance(v, (int, float)) and v == v]
    if len(values) < 3 or max(values) == min(values):
        return ""
    low, high = min(values), max(values)
    drawn = ""
    for points, colour in lines:
        at = [f"{10 + 280 * i / max(1, len(points) - 1):.1f},{90 - 80 * (v - low) / (high - low):.1f}"
              for i, v in enumerate(points) if isinstance(v, (int, float)) and v == v]
        drawn += f"<polyline fill='none' stroke='{colour}' stroke-width='1.5' points='{' '.join(at)}'/>"
    return f"<svg width='300' height='100' role='img' aria-label='losses'>{drawn}</svg>"
