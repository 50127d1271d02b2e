package hdf5

import "fmt"

// Class is the kind of a Type.
type Class uint8

// The classes that are supported.
const (
	Integer Class = 1 // little endian
	Float   Class = 2 // IEEE 754, little endian, of 2, 4 or 8 bytes
	Fixed   Class = 3 // string of Size bytes, padded
	Varying Class = 4 // string of any length
)

// Type is the type of one element.
type Type struct {
	Class  Class
	Size   int // bytes of an element in the file
	Signed bool
}

// String names the type as messages do: "f32", "i64", "string of 12 bytes".
func (t Type) String() string {
	switch {
	case t.Class == Float:
		return fmt.Sprintf("f%d", 8*t.Size)
	case t.Class == Integer && t.Signed:
		return fmt.Sprintf("i%d", 8*t.Size)
	case t.Class == Integer:
		return fmt.Sprintf("u%d", 8*t.Size)
	case t.Class == Fixed:
		return fmt.Sprintf("string of %d bytes", t.Size)
	}
	return "string"
}

// The names of all datatype classes (IV.A.2.d), for refusals.
var classNames = [...]string{"fixed-point", "floating-point", "time", "string", "bit field", "opaque",
	"compound", "reference", "enumeration", "variable-length", "array"}

// datatype reads a datatype message.
func (c *cursor) datatype() Type {
	head := c.u8()
	version, class := head>>4, head&15
	if c.err == nil && (version < 1 || version > 3) {
		c.fail("datatype of version %d; versions 1 to 3 are supported", version)
	}
	bits := c.uint(3)
	t := Type{Size: c.u32()}
	if c.err == nil && (t.Size < 1 || t.Size > maxText) {
		c.fail("datatype of %d bytes; 1 to %d are supported", t.Size, maxText)
	}
	switch class {
	case 0:
		c.integer(&t, bits)
	case 1:
		c.float(&t, bits)
	case 3:
		t.Class = Fixed
	case 8: // h5py's booleans are enumerations of i8
		base := c.datatype8()
		base.Size = t.Size
		t = base
	case 9:
		c.varying(&t, bits)
	default:
		name := "unknown"
		if class < len(classNames) {
			name = classNames[class]
		}
		c.fail("data of the %s class %d is not supported", name, class)
	}
	return t
}

// datatype8 reads the base type of an enumeration, which must be an integer of one byte.
func (c *cursor) datatype8() Type {
	t := Type{}
	if head := c.u8(); c.err == nil && head&15 != 0 {
		c.fail("enumeration over a type of class %d; only integers are supported", head&15)
	}
	bits := c.uint(3)
	if t.Size = c.u32(); c.err == nil && t.Size != 1 {
		c.fail("enumeration over an integer of %d bytes; only 1 is supported", t.Size)
	}
	c.integer(&t, bits)
	return t
}

func (c *cursor) integer(t *Type, bits uint64) {
	offset, precision := c.u16(), c.u16()
	t.Class, t.Signed = Integer, bits&8 != 0
	switch {
	case c.err != nil:
	case bits&1 != 0 && t.Size > 1:
		c.fail("big-endian integers are not supported")
	case offset != 0 || precision != 8*t.Size || t.Size > 8 || t.Size&(t.Size-1) != 0:
		c.fail("integers of %d bits in %d bytes are not supported", precision, t.Size)
	}
}

// ieee describes the IEEE 754 floats of 2, 4 and 8 bytes by four numbers: the position and
// the number of the exponent's bits, the number of the mantissa's bits, and the bias.
var ieee = map[int][4]int{2: {10, 5, 10, 15}, 4: {23, 8, 23, 127}, 8: {52, 11, 52, 1023}}

func (c *cursor) float(t *Type, bits uint64) {
	offset, precision := c.u16(), c.u16()
	expAt, expBits, fracAt, fracBits, bias := c.u8(), c.u8(), c.u8(), c.u8(), c.u32()
	t.Class, t.Signed = Float, true
	switch want, ok := ieee[t.Size]; {
	case c.err != nil:
	case bits&0x41 != 0:
		c.fail("big-endian floating point is not supported")
	case !ok || offset != 0 || precision != 8*t.Size || fracAt != 0 ||
		[4]int{expAt, expBits, fracBits, bias} != want:
		c.fail("floating point of %d bytes that is not IEEE 754 is not supported", t.Size)
	}
}

func (c *cursor) varying(t *Type, bits uint64) {
	t.Class = Varying
	switch {
	case c.err != nil:
	case bits&15 != 1:
		c.fail("variable-length sequences are not supported, only strings")
	case t.Size != 16:
		c.fail("variable-length string of %d bytes, want 16", t.Size)
	}
}
