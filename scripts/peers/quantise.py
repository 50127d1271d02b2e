"""quantise.py FROM.onnx TO.onnx u8s8|s8s8: a file in QDQ form by ONNX Runtime's own quantiser.

The ranges are those of two images of noise: for speed they do not matter.
"""
import sys
import tempfile

import onnx.reference  # before ONNX Runtime, whose operators it does not expect
import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

source, target, form = sys.argv[1:4]


class Noise(CalibrationDataReader):
    def __init__(self, name):
        draws = np.random.RandomState(1)
        self.rows = iter([{name: draws.randn(1, 3, 224, 224).astype(np.float32)} for _ in range(2)])

    def get_next(self):
        return next(self.rows, None)


with tempfile.NamedTemporaryFile(suffix='.onnx') as prepared:
    quant_pre_process(source, prepared.name, skip_symbolic_shape=True)
    name = onnxruntime.InferenceSession(prepared.name).get_inputs()[0].name
    quantize_static(prepared.name, target, Noise(name), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8 if form == 'u8s8' else QuantType.QInt8,
                    weight_type=QuantType.QInt8)
