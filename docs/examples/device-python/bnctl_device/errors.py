"""Errors that the host understands."""
from . import device_pb2 as pb


class DeviceError(Exception):
    """An error of a kind, as it travels in replies."""

    def __init__(self, kind, text, refusals=()):
        super().__init__(text)
        self.kind = kind
        self.refusals = refusals

    def message(self):
        return pb.Error(kind=self.kind, message=str(self), refusals=self.refusals)


def invalid(text):
    return DeviceError(pb.KIND_INVALID, text)
