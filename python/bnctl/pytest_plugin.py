"""The plugin of pytest: a fixture for models, and ``--update`` for stored outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Tuple

import pytest

if TYPE_CHECKING:
    from ._model import Model


def pytest_addoption(parser: Any) -> None:
    """Add --bnctl-update."""
    parser.getgroup("bnctl").addoption(
        "--bnctl-update", action="store_true",
        help="store the outputs that assert_same_outputs compares; --update does too, if no other plugin has it")


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_load_initial_conftests(parser: Any, args: List[str]) -> Iterator[None]:
    """Take --update for --bnctl-update, unless a plugin or a conftest has an option of that name."""
    yield
    groups = [*getattr(parser, "_groups", []), getattr(parser, "_anonymous", None)]
    taken = any("--update" in option.names() for group in groups if group for option in group.options)
    if not taken:
        args[:] = ["--bnctl-update" if a == "--update" else a for a in args]


def pytest_configure(config: Any) -> None:
    """Pass the option on to bnctl.testing."""
    if config.getoption("bnctl_update", False):
        from . import testing

        testing.update = True


@pytest.fixture(scope="session")
def bnctl_model() -> "Iterator[Callable[..., Model]]":
    """Open models: ``bnctl_model(path, **options)``. Each is opened once, and closed at the end of the tests."""
    from ._model import Model

    opened: Dict[Tuple[Any, ...], Model] = {}

    def open_model(path: Any, **options: Any) -> Model:
        key = (str(path), *sorted((name, repr(value)) for name, value in options.items()))
        if key not in opened or opened[key].closed:
            opened[key] = Model(path, **options)
        return opened[key]

    yield open_model
    for model in opened.values():
        model.close()
