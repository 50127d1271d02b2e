package tensor

import (
	"fmt"
	"math"
)

// DType is the type of a tensor's elements. The numbers are part of the file format and of the protocol:
// they never change meaning, and new ones are added at the end.
type DType uint8

// These are the types. Devices compute in F32, F64 (sums and moments), I32, I64, U8 and I8. The other
// types occur in files and are converted when the files are read.
const (
	F32  DType = 1
	F64  DType = 2
	F16  DType = 3
	BF16 DType = 4
	I8   DType = 5
	I16  DType = 6
	I32  DType = 7
	I64  DType = 8
	U8   DType = 9
	U16  DType = 10
	U32  DType = 11
	U64  DType = 12
	Bool DType = 13
)

var dtypes = [...]struct {
	name string
	size int
}{
	F32: {"f32", 4}, F64: {"f64", 8}, F16: {"f16", 2}, BF16: {"bf16", 2},
	I8: {"i8", 1}, I16: {"i16", 2}, I32: {"i32", 4}, I64: {"i64", 8},
	U8: {"u8", 1}, U16: {"u16", 2}, U32: {"u32", 4}, U64: {"u64", 8}, Bool: {"bool", 1},
}

// Valid reports whether d is one of the types above.
func (d DType) Valid() bool { return d > 0 && int(d) < len(dtypes) }

// Size returns the bytes of one element.
func (d DType) Size() int { return dtypes[d].size }

// String returns the name used in text forms: "f32".
func (d DType) String() string {
	if !d.Valid() {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}

// ParseDType returns the type with that name.
func ParseDType(name string) (DType, error) {
	for d := F32; d.Valid(); d++ {
		if dtypes[d].name == name {
			return d, nil
		}
	}
	return 0, fmt.Errorf("unknown tensor type %q", name)
}

// Element lists the Go types that View can return. F16 and BF16 have no Go type: convert them with
// ToF32.
type Element interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool
}

// typeOf returns the DType of a Go type.
func typeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return F32
	case float64:
		return F64
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	case int64:
		return I64
	case uint8:
		return U8
	case uint16:
		return U16
	case uint32:
		return U32
	case uint64:
		return U64
	}
	return Bool
}

// ToF32 returns t converted to F32; or t itself if it is F32 already. Halves convert exactly; F64 and
// integers round to nearest even.
func (t Tensor) ToF32() (Tensor, error) {
	if t.DType == F32 {
		return t, nil
	}
	out := New(F32, t.Shape...)
	dst := out.F32()
	switch t.DType {
	case F64:
		convert(dst, View[float64](t))
	case F16:
		for i := range dst {
			dst[i] = halfToFloat(uint16(t.Bytes[2*i]) | uint16(t.Bytes[2*i+1])<<8)
		}
	case BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(t.Bytes[2*i])<<16 | uint32(t.Bytes[2*i+1])<<24)
		}
	case I8:
		convert(dst, View[int8](t))
	case I16:
		convert(dst, View[int16](t))
	case I32:
		convert(dst, View[int32](t))
	case I64:
		convert(dst, View[int64](t))
	case U8:
		convert(dst, View[uint8](t))
	case U16:
		convert(dst, View[uint16](t))
	case U32:
		convert(dst, View[uint32](t))
	case U64:
		convert(dst, View[uint64](t))
	default:
		return Tensor{}, fmt.Errorf("a %v tensor does not convert to f32", t.DType)
	}
	return out, nil
}

func convert[T float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []float32,
	src []T) {
	for i, v := range src {
		dst[i] = float32(v)
	}
}

// halfToFloat converts an IEEE 754 binary16 to float32, including subnormals, infinities and NaN payloads.
func halfToFloat(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h>>10) & 0x1f
	frac := uint32(h & 0x3ff)
	switch exp {
	case 0: // zero or subnormal: frac * 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*(1.0/(1<<24))))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}
