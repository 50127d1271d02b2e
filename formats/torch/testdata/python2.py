"""Writes pickles in the form of Python 2, from Python 3. It is the pickle_module for torch.save.

Byte strings for text, lines of text for integers above 32 bits, lists in the constructor of OrderedDict, and
objects of old classes by opcode OBJ."""
import argparse, collections, pickle, struct

Unpickler, load = pickle.Unpickler, pickle.load


class Pickler(pickle._Pickler):
    dispatch = dict(pickle._Pickler.dispatch)

    def raw(self, obj, data):
        head = b"U" + bytes([len(data)]) if len(data) < 256 else b"T" + struct.pack("<i", len(data))
        self.write(head + data)
        self.memoize(obj)

    def save_text(self, obj):
        self.raw(obj, obj.encode())

    def save_integer(self, obj):
        if -2**31 <= obj < 2**31:
            return pickle._Pickler.save_long(self, obj)
        self.write(b"I%d\n" % obj if abs(obj) < 2**63 else pickle.LONG1 + b"\x0a" + obj.to_bytes(10, "little"))

    def save_ordered(self, obj):
        self.save_reduce(collections.OrderedDict, ([[k, v] for k, v in obj.items()],), obj=obj)

    def save_old(self, obj):
        self.write(pickle.MARK)
        self.save(type(obj))
        self.write(pickle.OBJ)
        self.memoize(obj)
        self.save(obj.__dict__)
        self.write(pickle.BUILD)

    dispatch.update({str: save_text, int: save_integer, collections.OrderedDict: save_ordered,
                     argparse.Namespace: save_old})
    dispatch[bytes] = lambda self, obj: self.raw(obj, obj)


def dump(obj, f, protocol=2):
    Pickler(f, 2).dump(obj)
