#!/usr/bin/env python3
"""machineserve.py [BNCTL]: bnctl predict, eval and serve on devices of other machines (bnctl devices serve, here).

predict and eval print what the device of the host gives. A server without a device of its own answers eight
clients while a second machine joins, the first one is killed and comes back, and the second one leaves by SIGTERM:
no request fails, and every answer has the bytes of the host's device. The seconds until a machine that joins computes
are printed.
"""
import http.client, json, os, random, re, shutil, signal, subprocess, sys, tempfile, threading, time

bnctl = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "bin/bnctl")
work = tempfile.mkdtemp(prefix="machineserve")
os.chdir(work)
running = []


def start(out, *words):
    p = subprocess.Popen([bnctl, *words], stdout=open(out, "w"), stderr=subprocess.STDOUT)
    running.append(p)
    return p


def run(*words):
    return subprocess.run([bnctl, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def offer(i, port=0):
    """Starts a machine, and returns its process and its port."""
    out = f"served{i}"
    p = start(out, "devices", "serve", "--listen", f"127.0.0.1:{port}", "--devices", "cpu", "--threads", "1", "--tls",
              "keys/device")
    for _ in range(200):
        if found := re.search(r"^tls://[^/]*:(\d+)/", open(out).read(), re.M):
            return p, int(found[1])
        time.sleep(0.1)
    sys.exit(f"machineserve.py: machine {i} does not start: {open(out).read()}")


def busy(p):
    """Processor time of a machine's process, in ticks."""
    fields = open(f"/proc/{p.pid}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def computes(p, after):
    """Waits until a machine computes, and returns the seconds since a time."""
    before = busy(p)
    while busy(p) < before + 20:
        if time.time() - after > 60:
            sys.exit("machineserve.py: a machine that has joined does not compute within 60 s; the server: "
                     + open("server").read()[-3000:])
        time.sleep(0.1)
    return time.time() - after


class Clients:
    """Clients that send requests until they are stopped."""

    def __init__(self, address, requests):
        self.address, self.requests, self.answers, self.failures, self.ended = address, requests, 0, [], False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.loop, args=(i,)) for i in range(8)]
        for t in self.threads:
            t.start()

    def loop(self, seed):
        r = random.Random(seed)
        while not self.ended:
            body, want = r.choice(self.requests)
            status, got = ask(self.address, body)
            with self.lock:
                self.answers += 1
                if status != 200 or got != want:
                    self.failures.append((status, got[:200]))

    def stop(self):
        self.ended = True
        for t in self.threads:
            t.join()


def ask(address, body):
    c = http.client.HTTPConnection(address, timeout=60)
    try:
        c.request("POST", "/v2/models/m/infer", body)
        a = c.getresponse()
        return a.status, a.read()
    except OSError as e:
        return 0, str(e).encode()
    finally:
        c.close()


def serve(*words):
    """Starts a server, and returns its address."""
    p = start("server", "serve", "m.bnm", "--http", "127.0.0.1:0", "--grpc", "", *words)
    for _ in range(300):
        if found := re.search(r"http://([\d.]+:\d+)", open("server").read()):
            try:
                c = http.client.HTTPConnection(found[1], timeout=5)
                c.request("GET", "/v2/health/ready")
                if c.getresponse().status == 200:
                    return p, found[1]
            except OSError:
                pass
        time.sleep(0.1)
    sys.exit("machineserve.py: the server does not start: " + open("server").read())


def end(p, how=signal.SIGTERM):
    p.send_signal(how)
    p.wait(30)
    running.remove(p)


def main():
    run("devices", "keys", "keys")
    run("train", "--model", "lenet-bn", "--data", "glyphs:64", "--epochs", "1", "--batch", "32", "-o", "m.bnm")
    first, port = offer(1)
    far = ["--devices", f"tls://127.0.0.1:{port}/*", "--devices-tls", "keys/host"]
    for words in (["predict", "m.bnm", "glyphs:200@test", "--json"], ["eval", "m.bnm", "--data", "glyphs:200@test"]):
        here, there = (re.sub(rb"\(\d+ img/s\)", b"", run(*words, *how)) for how in ([], far))
        if here != there:
            sys.exit(f"machineserve.py: {words[0]} has another answer on a machine")
        print(f"{words[0]}: equal")

    r = random.Random(1)
    bodies = [json.dumps({"id": "1", "inputs": [{"name": "x", "datatype": "UINT8", "shape": [n, 28, 28, 1],
                          "data": [r.randrange(256) for _ in range(n * 784)]}]}) for n in (1, 1, 4, 16)]
    server, address = serve("--devices", "cpu")
    requests = [(b, ask(address, b)[1]) for b in bodies]
    end(server)

    open("machines", "w").write(f"127.0.0.1:{port}\n")
    server, address = serve("--devices", "none", "--devices-file", "machines", "--devices-tls", "keys/host")
    clients = Clients(address, requests)
    time.sleep(2)
    second, other = offer(2)
    open("machines", "a").write(f"127.0.0.1:{other}\n")
    joined = computes(second, time.time())
    print(f"a machine that joins computes after {joined:.1f} s")
    end(first, signal.SIGKILL)
    time.sleep(3)
    first, _ = offer(1, port)
    back = computes(first, time.time())
    print(f"a machine that comes back computes after {back:.1f} s")
    end(second)
    time.sleep(3)
    clients.stop()
    end(server)
    print(f"serve: {clients.answers} answers, {len(clients.failures)} wrong or failed")
    for status, text in clients.failures[:5]:
        print("  ", status, text)
    if clients.failures or clients.answers < 100:
        sys.exit(1)


try:
    main()
finally:
    for p in running:
        p.kill()
        p.wait()
    os.chdir("/")
    shutil.rmtree(work, ignore_errors=True)
