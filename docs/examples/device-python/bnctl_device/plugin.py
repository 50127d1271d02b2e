"""The process: greeting, gRPC service, end."""
import json
import os
import signal
import sys
import threading
from concurrent import futures

import grpc

from . import device_pb2 as pb
from .errors import DeviceError
from .executable import Device
from .session import Session

NAME, VERSION, ABOUT = "python", "1", "an example: numpy, for the operations of small convolutional networks"
PROTOCOL = 1
COOKIE = ("BNCTL_DEVICE_PLUGIN", "d5f3a1c07b9e4e27")


def main(arguments):
    if arguments == ["describe"]:
        print(json.dumps({"name": NAME, "version": VERSION, "about": ABOUT, "protocol": PROTOCOL}))
        return
    if os.environ.get(COOKIE[0]) != COOKIE[1]:
        sys.exit("This is the device plugin %r of bnctl; bnctl starts it." % NAME)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole process group
    threading.Thread(target=exit_with_host, daemon=True).start()
    serve()


def exit_with_host():
    """The end of standard input means that the host is gone."""
    sys.stdin.buffer.read()
    os._exit(0)


def serve():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers(Service(server).handlers())
    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "python")
    server.add_insecure_port("unix:" + path)
    server.start()
    print("1|%d|unix|%s|grpc|" % (PROTOCOL, path), flush=True)
    server.wait_for_termination()


class Service:
    """The calls of the host. An error of the device is a field of the reply."""

    def __init__(self, server):
        self.server = server
        self.device = None
        self.muted = False

    def handlers(self):
        def unary(function, request, reply):
            return grpc.unary_unary_rpc_method_handler(
                function, request.FromString, reply.SerializeToString)

        def fixed(function):
            """A method of messages so small that their bytes stand here."""
            return grpc.unary_unary_rpc_method_handler(lambda request, context: function())

        device = {
            "Describe": unary(self.describe, pb.DescribeRequest, pb.PluginInfo),
            "List": unary(self.list, pb.ListRequest, pb.Devices),
            "Open": unary(self.open, pb.OpenRequest, pb.OpenReply),
            "Cancel": unary(self.cancel, pb.CancelRequest, pb.CancelReply),
            "Close": unary(self.close, pb.CloseRequest, pb.CloseReply),
            "Session": grpc.stream_stream_rpc_method_handler(
                self.session, pb.Message.FromString, pb.Message.SerializeToString),
        }
        serving = b"\x08\x01"  # HealthCheckResponse: status SERVING
        handler = grpc.method_handlers_generic_handler
        return (
            handler("bnctl.device.v1.Device", device),
            handler("grpc.health.v1.Health", {"Check": fixed(lambda: serving)}),
            handler("plugin.GRPCController", {"Shutdown": fixed(self.shutdown)}),
        )

    def describe(self, request, context):
        if not self.muted:  # nobody reads standard output from here on
            os.dup2(2, 1)
            self.muted = True
        return pb.PluginInfo(name=NAME, version=VERSION, about=ABOUT)

    def list(self, request, context):
        return pb.Devices(devices=[Device().info()])

    def open(self, request, context):
        try:
            if self.device is not None:
                raise DeviceError(pb.KIND_INVALID, "this process has opened a device already")
            device = Device()
            device.check(request)
        except DeviceError as e:
            return pb.OpenReply(error=e.message())
        self.device = device
        return pb.OpenReply(info=device.info(), level="stream/1")

    def session(self, requests, context):
        if self.device is None:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no device is open")
        yield from Session(self.device, requests).serve()
        self.device.closed = True

    def cancel(self, request, context):
        if self.device is not None:
            self.device.canceled = max(self.device.canceled, request.call)
        return pb.CancelReply()

    def close(self, request, context):
        if self.device is not None:
            self.device.closed = True
        return pb.CloseReply()

    def shutdown(self):
        self.server.stop(grace=0.5)
        return b""
