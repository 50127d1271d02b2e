"""The plugin of pytest: a fixture for models, and ``--update`` for stored outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Tuple

import pytest

if TYPE_CHECKING:
    from ._model import Model


def pytest_addoption(parser: Any) -> None:
    """Add --bnctl-update, and --update if no other plugin has it."""
    group = parser.getgroup("bnctl")
    text = "store the outputs that assert_same_outputs compares"
    group.addoption("--bnctl-update", action="store_true", help=text)
    try:
        group.addoption("--update", action="store_true", dest="bnctl_update", help=text)
    except ValueError:  # another plugin's
        pass


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
