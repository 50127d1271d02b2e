"""The device and what it has loaded."""
import numpy as np

from . import device_pb2 as pb
from . import operations
from .errors import DeviceError, invalid
from .messages import DTYPES


class Device:
    """The one device of this plugin. It keeps what the host has loaded."""

    def __init__(self):
        self.executables = {}
        self.last = 0
        self.group = None
        self.canceled = 0  # calls up to this one are
        self.closed = False

    def info(self):
        return pb.DeviceInfo(
            id="0", name="python", description="numpy %s, float64 inside" % np.__version__, kernels="numpy", threads=1,
            ops=sorted(operations.TABLE) + [pb.OP_ALL_REDUCE],
            features=["deterministic", "exact-updates", "finite-updates"], levels=["stream/1"])

    def check(self, request):
        """Refuses what this device is not."""
        if request.id != "0":
            raise DeviceError(pb.KIND_UNAVAILABLE, 'no device %r; the only one is "0"' % request.id)
        if request.kernels not in ("", "auto", "numpy"):
            raise DeviceError(pb.KIND_UNSUPPORTED, "kernel class %r; this device has numpy only" % request.kernels)
        if request.precision not in ("", "f32"):
            raise DeviceError(pb.KIND_UNSUPPORTED, "precision %r; this device has f32 only" % request.precision)

    def join(self, group):
        held = [list(m.replicas) for m in group.members]
        everything = {r for h in held for r in h}
        count = sum(len(h) for h in held)
        leaves = group.leaves or count
        if not 0 <= group.rank < len(held) or any(h != sorted(h) for h in held) \
                or len(everything) != count or not everything <= set(range(leaves)):
            raise invalid("rank %d of members that hold %s of %d replicas: want none twice, increasing"
                          % (group.rank, held, leaves))
        self.group, self.leaves = group, leaves
        self.alone = len(held) == 1 and count == leaves

    def load(self, data, capacity):
        program = pb.Program.FromString(data)
        refusals = [
            pb.Refusal(function=f.name, node=f.values[n.out[0]].name, op=n.op, why=operations.refusal(n))
            for f in program.functions for n in f.nodes
            if operations.refusal(n)
        ]
        if refusals:
            raise DeviceError(pb.KIND_UNSUPPORTED, "cannot run %d nodes" % len(refusals), refusals)
        self.last += 1
        self.executables[self.last] = Executable(program, capacity)
        return self.needs(self.last)

    def needs(self, number):
        fixed, row = self.executables[number].needs()
        return pb.Loaded(executable=number, fixed=fixed, per_row=row)


class Executable:
    """A program and its state."""

    def __init__(self, program, capacity):
        check_capacity(capacity)
        self.program = program
        self.functions = {f.name: f for f in program.functions}
        self.capacity = capacity
        self.state = {s.name: np.zeros(s.type.shape, DTYPES[s.type.dtype]) for s in program.state}
        self.version = 0
        self.kept = None  # values that the last run of train kept

    def needs(self):
        rows = [
            sum(8 * int(np.prod(v.type.shape, dtype=np.int64)) for v in f.values if v.relation == pb.RELATION_ROWS)
            for f in self.program.functions
        ]
        return sum(t.nbytes for t in self.state.values()), max(rows, default=0)

    def grow(self, capacity):
        check_capacity(capacity)
        self.capacity = pb.Capacity(
            rows=max(self.capacity.rows, capacity.rows), replicas=max(self.capacity.replicas, capacity.replicas))

    def read(self, name):
        if name not in self.state:
            raise invalid("no state tensor %r" % name)
        return self.state[name]

    def write(self, name, value):
        have = self.read(name)
        if have.dtype != value.dtype or have.shape != value.shape:
            raise invalid("%s is %s%s, not %s%s" % (name, have.dtype, have.shape, value.dtype, value.shape))
        self.state[name] = value.copy()

    def run(self, session, m, tensors):
        """Runs a function; yields the messages of its exchanges, returns its outputs."""
        if m.function not in self.functions or m.function == "commit":
            raise invalid("the program has no function %r that can be run" % m.function)
        f = self.functions[m.function]
        if m.function == "train":
            self.kept = None
        self.check_rows(session.device.group, f, m.rows)
        frame = operations.Frame(f, list(m.rows), self.state)
        frame.take(f.inputs, tensors)
        yield from frame.run(session, m.step)
        if m.function == "train":
            self.kept = {o.name: frame.values[o.value] for o in f.outputs if o.keep}
        return [frame.values[o.value] for o in f.outputs if not o.keep]

    def check_rows(self, group, f, rows):
        if any(n < 0 for n in rows) or sum(rows) > self.capacity.rows or len(rows) > self.capacity.replicas:
            raise invalid("rows %s, the capacity is %d in %d replicas" %
                          (list(rows), self.capacity.rows, self.capacity.replicas))
        reduces = any(n.op == pb.OP_ALL_REDUCE for n in f.nodes)
        if reduces and group is not None and len(group.members) > 0:
            held = len(group.members[group.rank].replicas)
            if held != len(rows):
                raise invalid("%d replicas, but the group gives this device %d" % (len(rows), held))

    def commit(self, version, hyper):
        if self.version == version + 1:
            return
        if self.version != version or self.kept is None:
            raise invalid("the state has version %d and %s; asked to commit version %d" % (
                self.version, "nothing was kept" if self.kept is None else "gradients were kept", version))
        f = self.functions.get("commit")
        if f is None:
            raise invalid("the program has no function commit")
        frame = operations.Frame(f, [], self.state)
        for v in f.inputs:
            name = f.values[v].name
            if name not in self.kept and name not in hyper:
                raise invalid("input %s was neither kept nor given" % name)
            frame.set(v, self.kept[name] if name in self.kept else np.float32(hyper[name]))
        for _ in frame.run(None, 0):
            pass  # commit exchanges nothing
        self.kept = None
        for u in f.updates:
            bad = np.flatnonzero(~np.isfinite(frame.values[u.value]))
            if len(bad) > 0:
                raise DeviceError(pb.KIND_NON_FINITE, "%s: element %d is %s (%d of them)" % (
                    u.state, bad[0], np.ravel(frame.values[u.value])[bad[0]], len(bad)))
        self.state.update({u.state: frame.values[u.value] for u in f.updates})
        self.version = version + 1


def check_capacity(c):
    if c.rows < 0 or c.replicas < 0:
        raise invalid("capacity of %d rows in %d replicas" % (c.rows, c.replicas))
