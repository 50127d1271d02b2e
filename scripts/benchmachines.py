#!/usr/bin/env python3
"""benchmachines.py [BNCTL [SLOWLINK]]: the step of a run on three other machines, beside a model of it.

Three machines that offer one device each (bnctl devices serve), and the host, have a network namespace and half a
core each (a cgroup; the host has the rest if there are more than two cores). The host reaches each machine over a link
of its own, by scripts/slowlink: 1 Gbit/s and 1 ms each way, or 100 Mbit/s and 20 ms. Nine replicas are on the three
machines, three on each; the host has no device.

    model = computing + (bytes that do not overlap) / rate + waits * round trip

computing: time of the slowest machine for its rows, measured while each machine has a run of its own, without sums to exchange.
bytes, waits: of the plan of the run (the event machines). rate, round trip: of slowlink, as they were set.
what overlaps: sums are exchanged in groups while the backward pass, two thirds of the computing, goes on; both
directions of a link are independent. So the bytes of sums count as
max(0, max(sent, received) / rate - 2/3 computing), and rows and results in full.

The model has no processor time for messages. A second ratio adds it: the bytes of a machine, times the processor time
of its "devices serve" for a byte, divided by the machine's half core. That time is measured by itself, in a run of nine
rows on the same machines without slowlink.

The steps of the run are read from its events; the median counts, without the first two. JSON names a file of
docs/results. ONLY picks networks by a regular expression, which is compared with "resnet50 sync 125000000 576". Needs root, iproute2 and cgroups with cpu.
"""
import json, os, pathlib, re, shutil, signal, statistics, subprocess, sys, tempfile, time

bnctl = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "bin/bnctl")
slowlink = os.path.realpath(sys.argv[2] if len(sys.argv) > 2 else "bin/slowlink")
result = os.environ.get("JSON") and os.path.realpath(os.environ["JSON"])
work = tempfile.mkdtemp(prefix="benchmachines")
os.chdir(work)
period = int(os.environ.get("PERIOD", 2000))
running, ident = [], f"bm{os.getpid()}"

# network, size of pictures, batch, batch norm, steps, and the link in bytes per second and milliseconds.
cases = [
    ("resnet20", 32, 2304, "sync", 7, 125_000_000, 1),
    ("resnet20", 32, 2304, "sync", 7, 12_500_000, 20),
    ("resnet50", 64, 576, "sync", 5, 125_000_000, 1),
    ("resnet50", 64, 1152, "sync", 5, 125_000_000, 1),
    ("resnet50", 64, 576, "replica", 5, 125_000_000, 1),
    ("resnet50", 64, 576, "sync", 5, 12_500_000, 20),
]
# the same for a host with a device of its own and a second machine.
seconds = [("resnet20", 32, 256, "sync", 4, 125_000_000, 1), ("resnet50", 64, 64, "sync", 4, 125_000_000, 1)]


def processor():
    text = re.search("model name.*: (.*)", open("/proc/cpuinfo").read())
    return f"{text[1] if text else 'unknown'}, {os.cpu_count()} cores"


def sh(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


class Cgroup:
    """A group of processes, with a share of a core if it is limited. Other programs of the system come after it."""

    def __init__(self, name):
        two = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        self.path = pathlib.Path("/sys/fs/cgroup" if two else "/sys/fs/cgroup/cpu") / f"{ident}-{name}"
        self.path.mkdir()
        self.two = two

        (self.path / ("cpu.weight" if two else "cpu.shares")).write_text("10000" if two else "262144")

    def limit(self, cores):
        """The share is given in periods of 2 ms, so that a machine is never off for long."""
        if self.two:
            (self.path / "cpu.max").write_text(f"{int(cores * period)} {period}")
        else:
            (self.path / "cpu.cfs_period_us").write_text(str(period))
            (self.path / "cpu.cfs_quota_us").write_text(str(int(cores * period)))

    def enter(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))


def start(namespace, group, *words, out):
    """Starts a program in a namespace and a cgroup."""
    # ip netns exec would hide /sys/fs/cgroup, so that the program would not know its share of a core, and would spin.
    p = subprocess.Popen(["nsenter", f"--net=/run/netns/{namespace}", *words], stdout=open(out, "w"),
                         stderr=subprocess.STDOUT, preexec_fn=group.enter if group else None)
    running.append(p)
    return p


def stop(p):
    p.terminate()
    try:
        p.wait(15)
    except subprocess.TimeoutExpired:
        p.kill()
        p.wait()
    running.remove(p)


def namespaces():
    """m0 has a bridge, m1 the host, m2 to m4 the machines."""
    for i in range(5):
        sh("ip", "netns", "add", f"{ident}-{i}")
        sh("ip", "-n", f"{ident}-{i}", "link", "set", "lo", "up")
    sh("ip", "-n", f"{ident}-0", "link", "add", "sw0", "type", "bridge")
    sh("ip", "-n", f"{ident}-0", "link", "set", "sw0", "up")
    for i in range(1, 5):
        sh("ip", "-n", f"{ident}-0", "link", "add", f"v{i}", "type", "veth", "peer", "name", "eth0", "netns",
           f"{ident}-{i}")
        sh("ip", "-n", f"{ident}-0", "link", "set", f"v{i}", "master", "sw0", "up")
        sh("ip", "-n", f"{ident}-{i}", "addr", "add", f"10.80.0.{i}/24", "dev", "eth0")
        sh("ip", "-n", f"{ident}-{i}", "link", "set", "eth0", "up")


def pictures(size, n):
    """Pictures of noise and their labels as npy:."""
    def write(name, shape, body):
        head = str({"descr": "|u1", "fortran_order": False, "shape": shape})
        head += " " * (-(len(head) + 11) % 64) + "\n"
        with open(name, "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + body)
    import random
    r = random.Random(1)
    write("x.npy", (n, size, size, 3), r.randbytes(n * size * size * 3))
    write("y.npy", (n,), bytes(i % 10 for i in range(n)))


def train(group, case, devices, batch, replicas, steps, out):
    """Starts a training. finish returns its events."""
    network, size, _, norm, *_ = case
    words = [bnctl, "train", "--model", network, "--size", f"{size}x{size}", "--data", "npy:x.npy,y.npy", "--bn", norm,
             "--batch", str(batch), "--replicas", str(replicas), "--steps", str(steps), "--log-every", "1", "--plan",
             "--view=false", "--json", "--devices", devices, "--devices-tls", "keys/host", "--device-timeout", "300",
             "--overwrite", "-o", out + ".bnm"]
    return start(f"{ident}-1", group, *words, out=out)


def finish(p, out):
    if p.wait() != 0:
        sys.exit("benchmachines.py: " + open(out).read()[-3000:])
    running.remove(p)
    return [json.loads(line) for line in open(out) if line.startswith("{")]


def steps(events, batch):
    """Times of steps without the first two, and the share that each machine computed."""
    found = [e for e in events if e["event"] == "step"][2:]
    took = [batch / e["images_per_s"] for e in found]
    computed = [max(m["compute"] for m in e["machines"]) for e in found]
    return took, [t * c for t, c in zip(took, computed)]


def serving(pid):
    """Processor time of a "devices serve" and its children, without the processes of devices."""
    total = 0
    for p in [pid] + [int(p) for p in os.listdir("/proc") if p.isdigit()]:
        try:
            stat = open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()
            if (p == pid) != (int(stat[1]) == pid) and "serve-device" not in open(f"/proc/{p}/cmdline").read():
                total += int(stat[11]) + int(stat[12])
        except OSError:
            pass
    return total / os.sysconf("SC_CLK_TCK")


def transport(case, host, served):
    """Seconds of processor of a machine's devices serve for a byte. Steps 1, 2, 4 and 8 send other bytes too."""
    network, size, _, norm, *_ = case
    pictures(size, 9 * 8)
    devices = ",".join(f"tls://10.80.0.{i}:7443/*" for i in (2, 3, 4))
    p = train(host, (network, size, 9, norm), devices, 9, 9, 8, "cost")
    times = {}
    while p.poll() is None and 7 not in times:
        found = [json.loads(l) for l in open("cost") if l.startswith("{") and l.endswith("}\n")]
        times.setdefault(sum(e["event"] == "step" for e in found), [serving(s.pid) for s in served])
        time.sleep(0.01)
    events = finish(p, "cost")
    first = 4 if 4 in times else 5
    moved = [m["sent_bytes"] + m["received_bytes"] for e in events if e["event"] == "step" for m in e["machines"]][-6]
    return max(b - a for a, b in zip(times[first], times[7])) / (7 - first) / moved


def measure(case, host, network_group, served):
    network, size, batch, norm, count, rate, delay = case
    cost = transport(case, host, served)
    pictures(size, batch * count)
    # Three runs at once, each on one machine, which has all replicas of a third of the batch.
    runs = [train(network_group, case, f"tls://10.80.0.{i}:7443/*", batch // 3, 3, count, f"alone{i}") for i in (2, 3, 4)]
    computing = max(statistics.median(steps(finish(p, f"alone{i}"), batch // 3)[1]) for i, p in zip((2, 3, 4), runs))
    links = [start(f"{ident}-1", network_group, slowlink, "-rate", str(rate), "-delay", f"{delay}ms", f"127.0.0.1:744{i}",
                   f"10.80.0.{i}:7443", out=f"link{i}") for i in (2, 3, 4)]
    time.sleep(0.5)
    devices = ",".join(f"tls://127.0.0.1:744{i}/*" for i in (2, 3, 4))
    events = finish(train(host, case, devices, batch, 9, count, "all"), "all")
    for p in links:
        stop(p)
    took, busy = steps(events, batch)
    plans = [m for e in events if e["event"] == "machines" for m in e.get("machines", [])]
    plan = max(plans, key=lambda m: m["received_bytes"])
    rows = plan["row_bytes"]
    sums = max(plan["sent_bytes"] - rows, plan["received_bytes"])
    exposed = max(0.0, sums / rate - computing * 2 / 3)
    waits = plan["waits"] * 2 * delay / 1000
    model = computing + rows / rate + exposed + waits
    step = statistics.median(took)
    moving = (plan["sent_bytes"] + plan["received_bytes"]) * cost / 0.5
    print(f"{network} {size}x{size}, {norm}, batch {batch}, {name(rate, delay)}: computing {computing:.3f} s + rows "
          f"{rows / rate:.3f} + sums {exposed:.3f} of {sums / rate:.3f} + {plan['waits']} waits {waits:.3f} = {model:.3f}; "
          f"step {step:.3f} ({min(took):.3f} to {max(took):.3f}); ratio {model / step:.2f}; {cost * 1e9:.2f} s of a core "
          f"per GB, {moving:.3f} s, with them {(model + moving) / step:.2f}; measured rate "
          f"{plan['bytes_per_s'] * 8 / 1e6:.0f} Mbit/s, round trip {plan['round_trip_s'] * 1e3:.1f} ms", flush=True)
    return [f"{network} {size}x{size}, {norm}, batch {batch}", name(rate, delay), f"{computing:.2f}",
            f"{rows / rate:.2f}", f"{exposed:.2f} of {sums / rate:.2f}", f"{waits:.2f}",
            f"{model:.2f}", f"{step:.2f} ({min(took):.2f} to {max(took):.2f})", f"{model / step:.2f}", f"{moving:.2f}",
            f"{(model + moving) / step:.2f}"]


def name(rate, delay):
    return f"{rate * 8 / 1e6:.0f} Mbit/s, {delay} ms"


def second(case, host, network_group):
    """Prints where one machine begins to pay for a host with a device of its own."""
    network, size, batch, norm, count, rate, delay = case
    pictures(size, batch * count)
    link = start(f"{ident}-1", network_group, slowlink, "-rate", str(rate), "-delay", f"{delay}ms", "127.0.0.1:7442",
                 "10.80.0.2:7443", out="link2")
    time.sleep(0.5)
    events = finish(train(host, case, "cpu,tls://127.0.0.1:7442/*", batch, 2, count, "second"), "second")
    stop(link)
    found = [m["break_even"] for e in events if e["event"] == "machines" for m in e.get("measured", [])][-1]
    rows = "at no batch" if found["rows"] < 0 else f"from a batch of {found['rows']}"
    least = "at no rate" if found["bytes_per_s"] < 0 else f"from {found['bytes_per_s'] * 8 / 1e6:.1f} Mbit/s"
    print(f"{network} {size}x{size}, {norm}, {name(rate, delay)}: a second machine pays {rows}, and at a batch of {batch} "
          f"{least}", flush=True)
    return f"{network}: {rows}, and at a batch of {batch} {least}"


def main():
    groups, served = [], []
    try:
        namespaces()
        sh(bnctl, "devices", "keys", "keys")
        host, link = Cgroup("host"), Cgroup("link")
        groups += [host, link]
        host.limit(max(0.5, os.cpu_count() - 1.5))
        for i in (2, 3, 4):
            g = Cgroup(f"m{i}")
            groups.append(g)
            g.limit(0.5)
            served.append(start(f"{ident}-{i}", g, bnctl, "devices", "serve", "--listen", ":7443", "--devices", "cpu", "--threads", "1",
                  "--tls", "keys/device", out=f"served{i}"))
        time.sleep(3)
        wanted = lambda list: [c for c in list if re.search(os.environ.get("ONLY", ""), f"{c[0]} {c[3]} {c[5]} {c[2]}")]
        rows = [measure(c, host, link, served) for c in wanted(cases)]
        pays = [second(c, host, link) for c in wanted(seconds)]
        if result:
            with open(result, "w") as f:
                json.dump({"processor": processor(), "command": "make bench-machines",
                           "measured": time.strftime("%Y-%m-%d"), "conditions": "three machines and the host in half a "
                           "core each, nine replicas; seconds. A second machine pays for " + "; ".join(pays),
                           "columns": ["network", "link of each machine", "computing", "rows", "sums", "waits", "model",
                                       "step", "ratio", "messages", "ratio with messages"], "rows": rows}, f, indent=1)
                f.write("\n")
    finally:
        for p in running:
            p.send_signal(signal.SIGTERM)
        for p in running:
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        for g in groups:
            for _ in range(20):
                try:
                    g.path.rmdir()
                    break
                except OSError:
                    time.sleep(0.2)
        for i in range(5):
            subprocess.run(["ip", "netns", "del", f"{ident}-{i}"], check=False)
        os.chdir("/")
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
