#!/usr/bin/env python3
"""serve_torch.py NETWORK FOLDER THREADS BATCH: a server as people write it with
PyTorch, FastAPI and uvicorn, for `make bench-serve-peers`.

A body is rows of float32, (N, C, H, W); so is the answer, of outputs. What came
while a batch was computed is the next one. Prints where it listens.
"""
import asyncio
import json
import os
import socket
import sys

import numpy as np
import torch
import uvicorn
from fastapi import FastAPI, Request, Response

import networks

name, folder, threads, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(threads)
model = networks.build(name)
model.load_state_dict(torch.load(os.path.join(folder, name + ".pth")))
model.eval()
shape, _ = networks.INPUTS[name]
with torch.no_grad():
    model = torch.jit.freeze(torch.jit.trace(model, torch.zeros(1, *shape)))
app = FastAPI()
waiting = asyncio.Queue(8 * most)


def predict(rows):
    """The outputs of rows."""
    with torch.no_grad():
        return model(torch.from_numpy(np.stack(rows))).numpy()


async def batches():
    """Computes batch after batch."""
    loop = asyncio.get_running_loop()
    while True:
        batch = [await waiting.get()]
        while len(batch) < most and not waiting.empty():
            batch.append(waiting.get_nowait())
        outputs = await loop.run_in_executor(None, predict, [row for row, _ in batch])
        for (_, ready), row in zip(batch, outputs):
            ready.set_result(row.tobytes())


@app.on_event("startup")
async def begin():
    app.state.batches = asyncio.create_task(batches())


@app.post("/")
async def infer(request: Request):
    body = await request.body()
    if len(body) != 4 * np.prod(shape):
        return Response(status_code=400)
    ready = asyncio.get_running_loop().create_future()
    try:
        waiting.put_nowait((np.frombuffer(body, np.float32).reshape(shape), ready))
    except asyncio.QueueFull:
        return Response(status_code=429)
    return Response(await ready, media_type="application/octet-stream")


s = socket.socket()
s.bind(("127.0.0.1", 0))
print(json.dumps({"http": "127.0.0.1:%d" % s.getsockname()[1]}), flush=True)
s.listen(1024)
uvicorn.run(app, fd=s.fileno(), log_level="error", access_log=False, timeout_keep_alive=60)
