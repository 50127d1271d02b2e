"""Makes files that a reader of torch.save's files must refuse, without PyTorch. Nothing here is ever loaded by Python. Run here: python3 make.py"""
import io, os, struct, tarfile, zipfile

ZERO = (1980, 1, 1, 0, 0, 0)


def u(s):
    b = s.encode() if isinstance(s, str) else s
    return b"X" + struct.pack("<I", len(b)) + b


def num(n):
    if 0 <= n < 256:
        return b"K" + bytes([n])
    size = max(1, (n.bit_length() + 8) // 8)
    return b"\x8a" + bytes([size]) + n.to_bytes(size, "little", signed=True)


def tup(*items):
    return b"(" + b"".join(items) + b"t"


def glob(module, name):
    return f"c{module}\n{name}\n".encode()


def storage(key="0", numel=6, cls="FloatStorage", *view):
    return tup(u("storage"), glob("torch", cls), u(key), u("cpu"), num(numel), *view) + b"Q"


def tensor(store=None, offset=0, size=(2, 3), stride=(3, 1), func="_rebuild_tensor_v2"):
    size = size if isinstance(size, bytes) else tup(*map(num, size))
    stride = stride if isinstance(stride, bytes) else tup(*map(num, stride))
    return (glob("torch._utils", func) + tup(store or storage(), num(offset), size, stride, b"\x89", b"}") + b"R")


def dic(*pairs):
    return b"}(" + b"".join(k + v for k, v in pairs) + b"u"


def pickled(body):
    return b"\x80\x02" + body + b"."


DATA = bytes(24)


def archive(name, body, data=DATA, extra=(), raw=False, method=zipfile.ZIP_STORED, pickle_method=zipfile.ZIP_STORED):
    buf = io.BytesIO()
    with zipfile.ZipFile(buf, "w") as z:
        z.writestr(zipfile.ZipInfo("a/data.pkl", ZERO), body if raw else pickled(body), pickle_method)
        if data is not None:
            z.writestr(zipfile.ZipInfo("a/data/0", ZERO), data, method)
        for n, b in extra:
            z.writestr(zipfile.ZipInfo(n, ZERO), b)
    open(name + ".pth", "wb").write(buf.getvalue())
    return buf.getvalue()


def state(name, value, **kw):
    return archive(name, dic((u("w"), value)), **kw)


# Code that must not run, and objects among the tensors.
evil = glob("os", "system") + tup(u("touch /tmp/bnctl-was-here")) + b"R"
archive("code_at_root", evil)
state("code_among_tensors", tensor() + u("x") + evil)
archive("module_pickled", glob("torchvision.models.resnet", "ResNet") + b")\x81}b")
archive("module_under_key", dic((u("model"), glob("models.yolo", "Model") + b")\x81" + dic((u("a"), b"K\x01")) + b"b")))
state("sharded", tensor() + u("x") + glob("torch.distributed._shard.sharded_tensor", "ShardedTensor") + b")\x81}b")
archive("deepspeed_zero3", dic((u("module"), dic((u("w"), tensor(size=(0,), stride=(1,))))), (u("param_shapes"), b"]")))
archive("no_tensors", dic((u("epoch"), b"K\x03")))
archive("two_models", dic((u("a"), dic((u("w"), tensor()))), (u("b"), dic((u("w"), tensor())))))

# Modules: a class without an instance, and the three dicts of its __dict__.


def module(parameters=b"}", modules=b"}", buffers=b"}"):
    state = dic((u("_parameters"), parameters), (u("_buffers"), buffers), (u("_modules"), modules))
    return glob("evil", "Module") + b")\x81" + state + b"b"


archive("module_tensor", module(dic((u("w"), u("x")))))
archive("module_child", module(modules=dic((u("a"), evil))))
archive("module_itself", glob("evil", "Module") + b")\x81q\x00" +
        dic((u("_parameters"), b"}"), (u("_buffers"), b"}"), (u("_modules"), dic((u("a"), b"h\x00")))) + b"b")
bomb = module(dic((u("w"), tensor()))) + b"q\x00"
for i in range(1, 40):
    bomb = module(modules=dic((u("a"), bomb), (u("b"), b"h" + bytes([i - 1])))) + b"q" + bytes([i])
archive("module_bomb", bomb)
empty = module() + b"q\x00"
for i in range(1, 40):
    empty = module(modules=dic((u("a"), empty), (u("b"), b"h" + bytes([i - 1])))) + b"q" + bytes([i])
archive("module_empty_bomb", empty)
archive("module_long_name", module(modules=dic((u("a" * 1000), module(dic((u("b" * 1000), tensor())))))))

# Opcodes.
archive("protocol_9", b"\x80\x09}.", raw=True)
archive("opcode_ff", b"\x80\x02\xff.", raw=True)
archive("opcode_text", b"\x80\x02P1\n.", raw=True)
archive("float_text", b"\x80\x02Fone\n.", raw=True)
archive("long_text", b"\x80\x02LoneL\n.", raw=True)
archive("string_quotes", b"\x80\x02S'a\n.", raw=True)
archive("string_escape", b"\x80\x02S'\\x4'\n.", raw=True)
archive("unicode_escape", b"\x80\x02V\\U00110000\n.", raw=True)
archive("unicode_early", b"\x80\x02V\\u00\n.", raw=True)
archive("memo_text", b"\x80\x02Np-1\n.", raw=True)
archive("object_without_class", b"\x80\x02(o.", raw=True)
archive("instance_without_mark", b"\x80\x02ia\nb\n.", raw=True)
archive("int_text", b"\x80\x02Ione\n.", raw=True)
archive("opcode_extension", b"\x80\x02\x82\x01.", raw=True)
archive("opcode_buffer", b"\x80\x05\x97.", raw=True)
archive("empty_pickle", b"", raw=True)
archive("no_stop", b"\x80\x02}", raw=True)
archive("stop_at_once", b"\x80\x02.", raw=True)
archive("stack_empty", b"0")
archive("mark_missing", b"}u")
archive("mark_crossed", b"}(}s")
archive("memo_missing", b"h\x05")
archive("append_to_string", u("x") + b"Na")
archive("items_of_number", b"K\x01(K\x02K\x03u")
archive("key_without_value", b"}(K\x01u")
archive("build_string", u("x") + b"}b")
archive("reduce_without_tuple", glob("a", "b") + b"]R")
archive("name_of_numbers", b"K\x01K\x02\x93")
archive("name_long", b"c" + b"m" * 5000 + b"\nx\n")
archive("string_2_63", b"\x8d" + struct.pack("<Q", 2**63))
archive("bytes_2_64", b"\x8e" + struct.pack("<Q", 2**64 - 1))
archive("string_4g", b"X" + struct.pack("<I", 2**32 - 1))
archive("frame_2_63", b"\x95" + struct.pack("<Q", 2**63))
archive("long_4g", b"\x8b" + struct.pack("<I", 2**32 - 1))
archive("long_huge", b"\x8b" + struct.pack("<I", 5000) + b"\x7f" * 5000)

# Containers that loop or multiply.
archive("dict_in_itself", b"}q\x00(" + u("w") + tensor() + u("self") + b"h\x00u")
laughs = b"}q\x00(" + b"".join(u(k) + b"N" for k in "ab") + b"u"
for i in range(1, 14):
    laughs = dic((u("a"), laughs), (u("b"), b"h" + bytes([i - 1]))) + b"q" + bytes([i])
archive("laughs", dic((u("w"), tensor()), (u("x"), laughs)))
deep = tensor()
for i in range(40):
    deep = dic((u("k"), deep))
archive("deep", dic((u("w"), tensor()), (u("x"), deep)))
deep = tensor()
for i in range(9):
    deep = glob("torch._utils", "_rebuild_parameter") + tup(deep, b"\x88", b"}") + b"R"
state("parameter_in_parameter", deep)

# Keys.
archive("key_number_float", dic((b"G" + bytes(8), tensor())))
archive("key_empty", dic((u(""), tensor())))
archive("key_not_utf8", dic((u(b"\xff\xfe"), tensor())))
archive("key_long", dic((u("k" * 5000), tensor())))
state("name_twice", tensor() + u("a") + dic((u("b"), tensor())) + u("a.b") + tensor())

# Tensors.
state("offset_beyond", tensor(offset=1))
state("offset_negative", tensor(offset=-1))
state("stride_negative", tensor(stride=(3, -1)))
state("stride_2_62", tensor(stride=(2**62, 1)))
state("size_2_62", tensor(size=(2**62, 4)))
state("size_negative", tensor(size=(-2, 3)))
state("size_2_70", tensor(size=(2**70, 3)))
state("size_text", tensor(size=u("23")))
state("size_of_text", tensor(size=tup(u("2"), u("3"))))
state("rank_9", tensor(size=(1,) * 9, stride=(1,) * 9))
state("rank_differs", tensor(stride=(1,)))
state("expand_bomb", tensor(size=(2**20, 2**20), stride=(0, 0)))
state("expand_overflow", tensor(size=(2**40, 2**40), stride=(0, 0)))
state("storage_text", tensor(store=u("x")))
state("storage_class", tensor(store=tup(u("storage"), glob("os", "system"), u("0"), u("cpu"), num(6)) + b"Q"))
state("storage_complex", tensor(store=storage(cls="ComplexFloatStorage")))
state("storage_quantised", tensor(store=storage(cls="QInt8Storage")))
state("storage_id_short", tensor(store=tup(u("storage")) + b"Q"))
state("storage_missing", tensor(store=storage(key="7")))
state("storage_outside", tensor(store=storage(key="../../../etc/passwd")))
state("storage_two_sizes", tensor() + u("x") + tensor(store=storage(numel=5)))
state("storage_negative", tensor(store=storage(numel=-1)))
state("storage_2_62", tensor(store=storage(numel=2**62)))
state("storage_truncated", tensor(), data=bytes(20))
state("func_quantised", tensor(func="_rebuild_qtensor"))
state("func_sparse", tensor(func="_rebuild_sparse_tensor"))
state("func_meta", tensor(func="_rebuild_meta_tensor_no_storage"))
state("func_unknown", tensor(func="_rebuild_something"))
big = bytes(1 << 16)
views = b"".join(u(f"v{i}") + tensor(store=storage(numel=1 << 14), size=(1 << 14,), stride=(1,)) for i in range(300))
archive("views_many", b"}(" + views + b"u", data=big)

# The archive.
state("zip_compressed", tensor(), method=zipfile.ZIP_DEFLATED)
archive("zip_bomb", b"]" * 10_000_000, pickle_method=zipfile.ZIP_DEFLATED)
with zipfile.ZipFile("zip_no_pickle.pth", "w") as z:
    z.writestr(zipfile.ZipInfo("a/readme", ZERO), b"")
state("zip_two_pickles", tensor(), extra=[("b/data.pkl", pickled(b"}"))])
state("zip_script", tensor(), extra=[("a/constants.pkl", pickled(b")"))])
state("zip_script_code", tensor(), extra=[("a/code/__torch__.py", b"")], method=zipfile.ZIP_DEFLATED)
state("zip_byteorder", tensor(), extra=[("a/byteorder", b"middle")])
b = state("zip_good_base", tensor(), extra=[("a/data/1", bytes(4))])
open("zip_twice.pth", "wb").write(b.replace(b"a/data/1", b"a/data/0"))
at = b.rindex(b"PK\x01\x02")  # the directory's entry of a/data/1: move it onto data.pkl
open("zip_overlap.pth", "wb").write(b[:at + 42] + struct.pack("<I", 0) + b[at + 46:])
open("zip_size_beyond.pth", "wb").write(b[:at + 20] + struct.pack("<II", 2**31, 2**31) + b[at + 28:])
open("zip_offset_beyond.pth", "wb").write(b[:at + 42] + struct.pack("<I", 2**31) + b[at + 46:])
open("zip_truncated.pth", "wb").write(b[:-30])
i = b.index(b"FloatStorage")
open("zip_crc_pickle.pth", "wb").write(b[:i] + b"DloatStorage" + b[i + 12:])
i = b.index(b"a/data/0") + 8
open("zip_crc_storage.pth", "wb").write(b[:i] + b"\x01" + b[i + 1:])
os.remove("zip_good_base.pth")

# The legacy stream.
MAGIC = b"\x80\x02\x8a\x0a" + (0x1950A86A20F9469CFC6C).to_bytes(10, "little") + b"."
HEAD = MAGIC + b"\x80\x02M\xe9\x03." + pickled(dic((u("little_endian"), b"\x88")))


def legacy(name, body, keys=b"]" + u("0") + b"a", tail=struct.pack("<Q", 6) + DATA, head=HEAD):
    open(name + ".pth", "wb").write(head + pickled(body) + pickled(keys) + tail)


one = dic((u("w"), tensor(store=storage("0", 6, "FloatStorage", b"N"))))
legacy("legacy_truncated", one, tail=struct.pack("<Q", 6) + DATA[:-1])
legacy("legacy_no_storages", one, tail=b"")
legacy("legacy_count_differs", one, tail=struct.pack("<Q", 5) + DATA)
legacy("legacy_count_2_64", one, tail=struct.pack("<Q", 2**64 - 1) + DATA)
legacy("legacy_key_twice", one, keys=b"](" + u("0") * 2 + b"e", tail=(struct.pack("<Q", 6) + DATA) * 2)
legacy("legacy_key_unknown", one, keys=b"]" + u("9") + b"a")
legacy("legacy_keys_dict", one, keys=b"}")
legacy("legacy_key_left_out", one, keys=b"]", tail=b"")
legacy("legacy_version", one, head=MAGIC + b"\x80\x02K\x07." + pickled(b"}"))
view = tup(u("v"), num(4), num(3))
legacy("legacy_view_beyond", dic((u("w"), tensor(store=storage("0", 6, "FloatStorage", view)))))
legacy("legacy_view_text", dic((u("w"), tensor(store=storage("0", 6, "FloatStorage", u("v"))))))
legacy("legacy_code", evil, keys=b"]", tail=b"")


# The tar archive.
def tar(name, members, links=()):
    with tarfile.open(name + ".pth", "w", format=tarfile.USTAR_FORMAT) as t:
        for n, b in members.items():
            info = tarfile.TarInfo(n)
            info.size = len(b)
            t.addfile(info, io.BytesIO(b))
        for n in links:
            info = tarfile.TarInfo(n)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            t.addfile(info)


SYS = pickled(dic((u("little_endian"), b"\x88")))
record = pickled(tup(u("0"), u("cpu"), glob("torch", "FloatStorage")))
stores = pickled(b"K\x01") + record + struct.pack("<Q", 6) + DATA + pickled(b"]")


def tensors(rank=2, numbers=(2, 3, 3, 1, 0), key=u("1"), where=u("0")):
    return (pickled(b"K\x01") + pickled(tup(key, where, glob("torch", "FloatTensor"))) + struct.pack("<iI", rank, 0)
            + b"".join(struct.pack("<q", n) for n in numbers))


main = pickled(dic((u("w"), u("1") + b"Q")))
good = {"sys_info": SYS, "pickle": main, "tensors": tensors(), "storages": stores}
tar("tar_rank", {**good, "tensors": tensors(rank=-1)})
tar("tar_rank_many", {**good, "tensors": tensors(rank=2**31 - 1)})
tar("tar_beyond", {**good, "tensors": tensors(numbers=(2, 3, 3, 1, 1))})
tar("tar_no_storage", {**good, "tensors": tensors(where=u("5"))})
tar("tar_no_tensor", {**good, "pickle": pickled(dic((u("w"), u("3") + b"Q")))})
tar("tar_count", {**good, "storages": pickled(num(2**62)) + stores[5:]})
tar("tar_storage_long", {**good, "storages": pickled(b"K\x01") + record + struct.pack("<Q", 2**63) + DATA})
tar("tar_no_pickle", {k: v for k, v in good.items() if k != "pickle"})
tar("tar_link", {k: v for k, v in good.items() if k != "pickle"}, links=["pickle"])
tar("tar_members_many", {**good, **{f"m{i}": b"" for i in range(40)}})
tar("tar_view", {**good, "storages": stores[:-4] + pickled(b"](" + tup(u("8"), u("0"), num(4), num(4)) + b"e")})
