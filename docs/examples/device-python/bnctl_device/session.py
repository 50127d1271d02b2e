"""A session: one call after the other, and exchanges in the middle of a run."""
import time
import traceback

from . import device_pb2 as pb
from . import messages, tree
from .errors import DeviceError, invalid


class Session:
    """Answers the messages of the host. Methods that yield, yield messages to it."""

    def __init__(self, device, requests):
        self.device = device
        self.requests = requests
        self.call = 0
        self.blocked = 0

    def serve(self):
        while True:
            message, tensors = messages.receive(self.requests)
            if message is None:
                return
            self.call = message.call
            body = message.WhichOneof("body")
            try:
                reply, out = yield from self.answer(body, message, tensors)
            except DeviceError as e:
                reply, out = failure(body, e.message()), ()
            except Exception:  # our mistake: say where
                text = traceback.format_exc(limit=-2)
                reply, out = failure(body, pb.Error(kind=pb.KIND_OTHER, message=text)), ()
            reply.call = message.call
            yield from messages.send(reply, out)

    def answer(self, body, message, tensors):
        d, m = self.device, getattr(message, body)
        if body == "load":
            return pb.Message(loaded=d.load(tensors[0].tobytes(), m.capacity)), ()
        if body == "join":
            d.join(m)
            return done(), ()
        x = d.executables.get(m.executable)
        if x is None:
            if body == "unload":
                return done(), ()
            raise invalid("there is no executable %d" % m.executable)
        if body == "grow":
            x.grow(m.capacity)
            return pb.Message(loaded=d.needs(m.executable)), ()
        if body == "unload":
            del d.executables[m.executable]
        elif body == "write":
            x.write(m.state, tensors[0])
        elif body == "read":
            return done(), (x.read(m.state),)
        elif body == "commit":
            x.commit(m.version, {h.name: h.value for h in m.hyper})
        elif body == "run":
            return (yield from self.run(x, m, tensors))
        return done(), ()

    def run(self, x, m, tensors):
        start, self.blocked = time.monotonic_ns(), 0
        out = yield from x.run(self, m, tensors)
        took = time.monotonic_ns() - start
        return pb.Message(outcome=pb.Outcome(took=took, blocked=self.blocked)), out

    def check(self):
        """Ends a run that the host has cancelled, between two nodes."""
        if self.device.canceled >= self.call or self.device.closed:
            raise DeviceError(pb.KIND_CANCELED, "the call was cancelled")

    def exchange(self, tag, values):
        """Meets the other members of the group. values are (op, parts, shape,
        dtype), parts (from, to, array or None); returns the results."""
        x, tensors = pb.Exchange(tag=tag), []
        for op, parts, like in values:
            v = x.values.add(op=op, result=messages.header(like))
            for first, last, part in parts:
                v.parts.add(to=last, absent=part is None, **{"from": first})
                if part is not None:
                    tensors.append(part)
        yield from messages.send(pb.Message(call=self.call, exchange=x), tensors)
        start = time.monotonic_ns()
        reply, results = messages.receive(self.requests)
        self.blocked += time.monotonic_ns() - start
        if reply is None:
            raise DeviceError(pb.KIND_CANCELED, "the session ended")
        if reply.reduced.HasField("error"):
            e = reply.reduced.error
            raise DeviceError(e.kind, e.message)
        return results

    def all_reduce(self, tag, values):
        """Reduces values over all replicas of the group: alone or with others.
        values are (op, leaves, like): leaves by replica held, None without rows."""
        group = self.device.group
        if group is None:
            held = list(range(len(values[0][1])))
            leaves = len(held)
        else:
            held = list(group.members[group.rank].replicas)
            leaves = self.device.leaves
        parts = [(op, tree.parts(op, leaves, held, x), like) for op, x, like in values]
        if group is not None and not self.device.alone:
            return (yield from self.exchange(tag, parts))
        out = []
        for op, p, like in parts:
            out.append(like if not p or p[0][2] is None else p[0][2])
        return out


def done():
    return pb.Message(done=pb.Done())


def failure(body, error):
    if body in ("load", "grow"):
        return pb.Message(loaded=pb.Loaded(error=error))
    if body == "run":
        return pb.Message(outcome=pb.Outcome(error=error))
    return pb.Message(done=pb.Done(error=error))
