package pickle

import (
	"fmt"
	"math/big"
)

// A value of a pickle is one of: nil (None), bool, int64, *big.Int, float64, string, Bytes,
// Tuple, *List, *Set, *Dict, Global, *Call, or a result of Reader.Persistent. Containers
// may be shared, and may contain themselves.
type (
	// Bytes is a bytes or bytearray object.
	Bytes []byte
	// Tuple is a tuple.
	Tuple []any
	// List is a list.
	List struct{ Items []any }
	// Set is a set or a frozenset.
	Set struct{ Items []any }
	// Global is the name of a class or function.
	Global struct{ Module, Name string }
)

// Call records the application of a class or function, which is never called.
type Call struct {
	Func  any   // function; as a rule a Global
	Args  Tuple // positional arguments
	State []any // the object's state, set by opcode BUILD
	Items Dict  // entries set on the object
	List  List  // items appended to the object
}

// String returns the dotted name.
func (g Global) String() string { return g.Module + "." + g.Name }

// Describe returns the kind of value v, for messages.
func Describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case Global:
		return v.String()
	case *Call:
		if g, ok := v.Func.(Global); ok {
			return "an object made by " + g.String()
		}
		return "an object"
	case *List:
		return "a list"
	case *Set:
		return "a set"
	case *Dict:
		return "a dict"
	case Tuple:
		return "a tuple"
	case string:
		return "a string"
	case Bytes:
		return "bytes"
	case bool, int64, float64, *big.Int:
		return fmt.Sprintf("the number %v", v)
	}
	return fmt.Sprint(v)
}
