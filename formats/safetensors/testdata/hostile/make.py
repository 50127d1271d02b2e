"""Makes files that a reader of safetensors must refuse. Run here: python3 make.py"""
import json, struct


def write(name, header, data=b"", length=None):
    if not isinstance(header, bytes):
        header = json.dumps(header).encode()
    n = len(header) if length is None else length
    open(name + ".safetensors", "wb").write(struct.pack("<Q", n) + header + data)


def entry(begin, end, shape=(2,), dtype="F32", **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end], **more}


write("length_near_2_64", b"{}", length=2**64 - 1)
write("length_negative", b"{}", length=2**63)
write("length_beyond_file", b"{}", length=3)
write("no_object", b"[]")
write("nested_arrays", b"[" * 10000)
write("nested_shape", b'{"a":{"dtype":"F32","shape":' + b"[" * 10000)
write("text_behind", b'{} {"a":1}')
write("not_utf8", b'{"\xff\xfe": 1}')
write("key_twice", b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', b"xx")
write("field_twice", b'{"a":{"dtype":"U8","dtype":"F32","shape":[1],"data_offsets":[0,1]}}', b"x")
write("hole", {"a": entry(0, 8), "b": entry(9, 17)}, bytes(17))
write("overlap", {"a": entry(0, 8), "b": entry(4, 12)}, bytes(12))
write("first_hole", {"a": entry(1, 9)}, bytes(9))
write("tail", {"a": entry(0, 8)}, bytes(9))
write("truncated", {"a": entry(0, 8)}, bytes(7))
write("size_differs", {"a": entry(0, 8, (3,))}, bytes(8))
write("size_overflow", {"a": entry(0, 0, (2**62, 4))})
write("negative_length", {"a": entry(0, 8, (-2,))}, bytes(8))
write("fraction", b'{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,6]}}', bytes(6))
write("end_before_begin", {"a": entry(8, 0)}, bytes(8))
write("offsets_three", b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}}', bytes(8))
write("rank_9", {"a": entry(0, 4, (1,) * 9)}, bytes(4))
write("unknown_type", {"a": entry(0, 2, dtype="F8_E4M3")}, bytes(2))
write("unknown_field", {"a": entry(0, 8, code="x")}, bytes(8))
write("no_type", {"a": {"shape": [2], "data_offsets": [0, 8]}}, bytes(8))
write("metadata_number", {"__metadata__": {"n": 1}})
write("metadata_many", {"__metadata__": {str(i): "" for i in range(4097)}})
open("empty.safetensors", "wb")
