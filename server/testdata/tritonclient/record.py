#!/usr/bin/env python3
"""record.py SERVER_HTTP SERVER_GRPC: what tritonclient sends, for TestTritonClient.

Asks a server of mlp-bn, called m, with the tritonclient that Python finds, through
recorders that stand in between. Writes NAME.http, the bytes of a connection, and
NAME.METHOD.pb, the message of a call. The pixels are 0, 1 ... 250, 0, 1 ...
"""
import os
import socket
import sys
import threading
from concurrent import futures

import grpc
import numpy as np
import tritonclient.grpc as overgrpc
import tritonclient.http as overhttp
from tritonclient.utils import InferenceServerException

folder = os.path.dirname(os.path.abspath(__file__))
name = ""  # name of the present request


def keep(ending, data):
    with open(os.path.join(folder, name + ending), "ab") as f:
        f.write(data)


def copy(source, to, ending):
    while True:
        data = source.recv(1 << 16)
        if not data:
            to.close()
            return
        if ending:
            keep(ending, data)
        to.sendall(data)


def record_http(address):
    """Records connections to a server, and returns where."""
    host, port = address.split(":")
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)

    def accept():
        while True:
            client, _ = listener.accept()
            server = socket.create_connection((host, int(port)))
            for ends in ((client, server, ".http"), (server, client, None)):
                threading.Thread(target=copy, args=ends, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return "127.0.0.1:%d" % listener.getsockname()[1]


class Recorder(grpc.GenericRpcHandler):
    """Records calls to a server."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address)

    def service(self, details):
        def handle(message, context):
            keep("." + details.method.rsplit("/", 1)[1] + ".pb", message)
            try:
                return self.channel.unary_unary(details.method)(message)
            except grpc.RpcError as e:
                context.abort(e.code(), e.details())

        return grpc.unary_unary_rpc_method_handler(handle)


def record_grpc(address):
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Recorder(address),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, "127.0.0.1:%d" % port


def pixels(rows):
    return (np.arange(rows * 784) % 251).astype(np.uint8).reshape(rows, 28, 28, 1)


def request(library, rows, **options):
    """The input of tritonclient, and the outputs that it is to ask for."""
    x = library.InferInput("x", [rows, 28, 28, 1], "UINT8")
    if library is overhttp:
        x.set_data_from_numpy(pixels(rows), binary_data=options.pop("binary_in", True))
    else:
        x.set_data_from_numpy(pixels(rows))
    return {"inputs": [x], "outputs": [library.InferRequestedOutput("logits", **options)]}


def ask(what, call, *words, **named):
    global name
    name = what
    try:
        call(*words, **named)
    except InferenceServerException as e:
        print(what + ": " + str(e))


def main():
    for old in os.listdir(folder):
        if old.endswith((".http", ".pb")):
            os.remove(os.path.join(folder, old))
    h = overhttp.InferenceServerClient(record_http(sys.argv[1]))
    server, address = record_grpc(sys.argv[2])
    g = overgrpc.InferenceServerClient(address)
    for c in (h, g):
        ask("live", c.is_server_live)
        ask("ready", c.is_server_ready)
        ask("model-ready", c.is_model_ready, "m", "1")
        ask("metadata", c.get_server_metadata)
        ask("model-metadata", c.get_model_metadata, "m")
        ask("config", c.get_model_config, "m")
        ask("index", c.get_model_repository_index)
        ask("load", c.load_model, "m")
        ask("unload", c.unload_model, "m")
        ask("shared-memory", c.get_system_shared_memory_status)
    ask("infer", h.infer, "m", **request(overhttp, 3, binary_data=True))
    ask("infer-json", h.infer, "m", **request(overhttp, 1, binary_in=False, binary_data=False))
    ask("infer-version", h.infer, "m", model_version="1", request_id="q", timeout=60_000_000, priority=1,
        **request(overhttp, 2, binary_data=True))
    ask("infer-all-outputs", h.infer, "m", inputs=request(overhttp, 2)["inputs"])
    ask("infer-gzip", h.infer, "m", request_compression_algorithm="gzip", response_compression_algorithm="gzip",
        **request(overhttp, 3, binary_data=True))
    ask("infer-deflate", h.infer, "m", request_compression_algorithm="deflate",
        **request(overhttp, 3, binary_data=True))
    ask("classes", h.infer, "m", **request(overhttp, 2, binary_data=True, class_count=3))
    ask("sequence", h.infer, "m", sequence_id=7, sequence_start=True, **request(overhttp, 1))
    ask("infer", g.infer, "m", **request(overgrpc, 3))
    ask("infer-version", g.infer, "m", model_version="1", request_id="q", client_timeout=60, timeout=60_000_000,
        **request(overgrpc, 2))
    ask("infer-all-outputs", g.infer, "m", inputs=request(overgrpc, 2)["inputs"])
    ask("infer-gzip", g.infer, "m", compression_algorithm="gzip", **request(overgrpc, 3))
    ask("classes", g.infer, "m", **request(overgrpc, 2, class_count=3))
    ask("sequence", g.infer, "m", sequence_id=7, sequence_start=True, **request(overgrpc, 1))
    server.stop(None)


main()
