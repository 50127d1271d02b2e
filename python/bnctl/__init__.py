"""bnctl from Python: models that predict with the bits of ``bnctl predict``, and trainings.

>>> import bnctl
>>> with bnctl.Model("photos.bnm") as model:  # doctest: +SKIP
...     model.predict("cat.jpg").top(3)
"""

from ._detection import Box, Detection
from ._errors import (AnswerError, ClosedError, Error, InputError, MisuseError, ServerError, SickError, StoppedError)
from ._functions import doctor, evaluate, export, inspect, quantize, reproduce, strip, train, verify
from ._model import Model
from ._prediction import Class, Prediction, TensorInfo
from ._results import Diagnosis, Evaluation, Exported, Inspection, Quantized, Reproduction, Stripped, Verification
from ._run import Run
from ._torch import from_keras, from_torch, to_torch

__all__ = ["AnswerError", "Box", "Class", "ClosedError", "Detection", "Diagnosis", "Error", "Evaluation", "Exported", "InputError",
           "Inspection", "MisuseError", "Model", "Prediction", "Quantized", "Reproduction", "Run", "ServerError",
           "SickError", "StoppedError", "Stripped", "TensorInfo", "Verification", "doctor", "evaluate", "export",
           "from_keras", "from_torch", "inspect", "quantize", "reproduce", "strip", "to_torch", "train", "verify"]
