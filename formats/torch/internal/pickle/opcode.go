package pickle

// opcode is a row of the table of opcodes; run is nil if the opcode is known but not
// supported.
type opcode struct {
	name string
	run  func(*machine) error
}

// opcodes are the opcodes of protocols 0 to 5 (Python's Lib/pickletools.py). Extension
// codes and out-of-band buffers are rejected. The persistent ids of protocol 0 are
// rejected, too, because they are text, and the ids of storages are tuples.
var opcodes = [256]opcode{
	0x80: {"PROTO", proto}, 0x95: {"FRAME", frame}, '.': {"STOP", stop},

	'N': {"NONE", constant(nil)}, 0x88: {"NEWTRUE", constant(true)}, 0x89: {"NEWFALSE", constant(false)},
	'J': {"BININT", binInt}, 'K': {"BININT1", smallInt(1)}, 'M': {"BININT2", smallInt(2)},
	0x8a: {"LONG1", long(1)}, 0x8b: {"LONG4", long(4)}, 'G': {"BINFLOAT", binFloat},

	'T': {"BINSTRING", text(4)}, 'U': {"SHORT_BINSTRING", text(1)}, 'X': {"BINUNICODE", text(4)},
	0x8c: {"SHORT_BINUNICODE", text(1)}, 0x8d: {"BINUNICODE8", text(8)},
	'B': {"BINBYTES", data(4)}, 'C': {"SHORT_BINBYTES", data(1)}, 0x8e: {"BINBYTES8", data(8)},
	0x96: {"BYTEARRAY8", data(8)},

	'(': {"MARK", mark}, '0': {"POP", pop}, '1': {"POP_MARK", popMark},
	')': {"EMPTY_TUPLE", tuple(0)}, 0x85: {"TUPLE1", tuple(1)}, 0x86: {"TUPLE2", tuple(2)},
	0x87: {"TUPLE3", tuple(3)}, 't': {"TUPLE", markedTuple},
	']': {"EMPTY_LIST", emptyList}, 'a': {"APPEND", appendOne}, 'e': {"APPENDS", appendMarked},
	'l': {"LIST", markedList}, '}': {"EMPTY_DICT", emptyDict}, 's': {"SETITEM", setItem},
	'u': {"SETITEMS", setMarked}, 'd': {"DICT", markedDict},
	0x8f: {"EMPTY_SET", emptySet}, 0x90: {"ADDITEMS", addItems}, 0x91: {"FROZENSET", frozenSet},

	'q': {"BINPUT", put(1)}, 'r': {"LONG_BINPUT", put(4)}, 0x94: {"MEMOIZE", memoize},
	'h': {"BINGET", get(1)}, 'j': {"LONG_BINGET", get(4)},

	'c': {"GLOBAL", global}, 0x93: {"STACK_GLOBAL", stackGlobal}, 'Q': {"BINPERSID", binPersID},
	'R': {"REDUCE", reduce}, 0x81: {"NEWOBJ", reduce}, 0x92: {"NEWOBJ_EX", newObjEx}, 'b': {"BUILD", build},

	'I': {"INT", lineInt}, 'L': {"LONG", lineLong}, 'F': {"FLOAT", lineFloat}, 'S': {"STRING", lineString},
	'V': {"UNICODE", lineUnicode}, 'p': {"PUT", linePut}, 'g': {"GET", lineGet}, 'i': {"INST", inst},
	'o': {"OBJ", obj}, '2': {"DUP", dup},

	'P':  {" (PERSID of protocol 0)", nil},
	0x82: {" (EXT1)", nil}, 0x83: {" (EXT2)", nil}, 0x84: {" (EXT4)", nil},
	0x97: {" (NEXT_BUFFER)", nil}, 0x98: {" (READONLY_BUFFER)", nil},
}
