"""Networks of PyTorch and Keras in memory, and weights back into them."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Sequence, Union

from ._errors import Error, InputError, MisuseError
from ._model import Model
from ._options import Value

if TYPE_CHECKING:
    from ._implementation import ModelLike, PathLike


def from_torch(module: Any, example: Any, path: "Union[None, PathLike]" = None, *,
               output_names: Sequence[str] = ("logits",), **options: Value) -> Model:
    """Return a PyTorch module as an open model, which predicts and can be trained.

    The module is exported to ONNX with the settings that keep every parameter and batch norm as it
    is. ``bnctl.train(model=model.path, ...)`` trains it, and :func:`to_torch` brings the weights back.

    Parameters
    ----------
    module : torch.nn.Module
        It is exported in eval mode, and left in the mode that it had.
    example : torch.Tensor or numpy.ndarray
        An input of two samples or more, ``[N, C, H, W]``.
    path : path, optional
        The ONNX file to write. Without it the file is temporary, and is removed with the model.
    output_names : sequence of str
        Names of the outputs, in their order. A name that ends in ``logits`` makes them classes.
    **options
        Options of :class:`Model`.
    """
    torch = _import_torch()
    if not isinstance(module, torch.nn.Module):
        raise InputError(f"module is {type(module).__name__}; want a torch.nn.Module", field="module")
    example = torch.as_tensor(example)
    if example.dim() < 1 or example.shape[0] < 1:
        raise InputError(f"example has the shape {list(example.shape)}; its first axis is samples: want [N, ...]",
                         field="example")
    folder = None if path is not None else tempfile.mkdtemp(prefix="bnctl-torch-")
    file = os.fspath(path) if path is not None else os.path.join(str(folder), "module.onnx")
    try:
        _export(torch, module, example, file, list(output_names))
        model = Model(file, **options)  # type: ignore[arg-type]
    except BaseException:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if folder:
        weakref.finalize(model, shutil.rmtree, folder, ignore_errors=True)
    return model


def _export(torch: Any, module: Any, example: Any, file: str, outputs: Sequence[str]) -> None:
    training = module.training
    settings = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False, "input_names": ["x"],
                "output_names": list(outputs), "dynamic_axes": {name: {0: "n"} for name in ["x", *outputs]}}
    if tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2]) >= (2, 5):
        settings["dynamo"] = False
    module.eval()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, example, file, **settings)
    except Exception as problem:
        raise Error(f"PyTorch cannot export the module: {problem}", field="module") from problem
    finally:
        module.train(training)


def to_torch(model: "ModelLike", module: Any) -> Any:
    """Load the weights of a model into a PyTorch module, with ``strict=True``, and return the module.

    Parameters
    ----------
    model : Model or path
        A template or a checkpoint whose network came from this kind of module.
    module : torch.nn.Module
        All of its parameters and buffers are replaced, or none.

    Raises
    ------
    InputError
        If names or shapes differ.
    """
    from ._functions import export

    torch = _import_torch()
    with tempfile.TemporaryDirectory(prefix="bnctl-torch-") as folder:
        file = os.path.join(folder, "weights.pth")
        export(model, file)
        state = torch.load(file, map_location="cpu")
    have = module.state_dict()
    for name in have:  # counters of batch norms do not influence an answer
        if name.endswith("num_batches_tracked") and name not in state:
            state[name] = have[name]
    wrong = [f"{n} has the shape {list(state[n].shape)}, in the module {list(have[n].shape)}"
             for n in have if n in state and state[n].shape != have[n].shape]
    wrong += [f"the module has no {n}" for n in state if n not in have]
    wrong += [f"the model has no {n}" for n in have if n not in state]
    if wrong:
        more = f", and {len(wrong) - 1} more differences" if len(wrong) > 1 else ""
        raise InputError(f"the weights are not of this module: {wrong[0]}{more}", field="module")
    module.load_state_dict(state, strict=True)
    return module


def from_keras(network: Any, path: "Union[None, PathLike]" = None, **options: Value) -> Model:
    """Return a Keras model in memory as an open model.

    Parameters
    ----------
    network : keras.Model
    path : path, optional
        The ``.keras`` or ``.h5`` file to write. Without it the file is temporary.
    **options
        Options of :class:`Model`.
    """
    if not callable(getattr(network, "save", None)) or not hasattr(network, "layers"):
        raise InputError(f"network is {type(network).__name__}; want a Keras model", field="network")
    folder = None if path is not None else tempfile.mkdtemp(prefix="bnctl-keras-")
    file = os.fspath(path) if path is not None else os.path.join(str(folder), "network.keras")
    try:
        network.save(file)
        model = Model(file, **options)  # type: ignore[arg-type]
    except BaseException:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if folder:
        weakref.finalize(model, shutil.rmtree, folder, ignore_errors=True)
    return model


def _import_torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MisuseError("PyTorch is not installed here; install torch 1.13 or newer") from None
    return torch
