package class

import (
	"slices"
	"strconv"
	"strings"
)

// Int8Class is the class of the operations of int8 templates. Every device at precision f32 has this
// class in addition to the class in device.Info.Kernels.
const Int8Class = "int8"

// numbers are the numbered classes of this release. The bits of a numbered class never change: other
// bits need a new number here, an ADR and a line in docs/promises.md. AMX and all classes at
// precision bf16 have no number, and their bits are promised within one release only.
var numbers = []string{FMA + "/1", Generic + "/1", Int8Class + "/1", Ref + "/1"}

// retired maps each numbered class that this release no longer computes to the last release that does.
var retired = map[string]string{}

// NumberedClasses returns the numbered classes that this release computes, sorted.
func NumberedClasses() []string { return slices.Clone(numbers) }

// Retired returns the last release that computes a numbered class. It returns "" if this release
// computes the class, or if no release has computed it.
func Retired(number string) string { return retired[number] }

// Numbered returns the numbered classes of a device that has the class name and is opened at a
// precision. For "fma" at "f32" they are "fma/1" and "int8/1". At precision bf16 the result is nil.
func Numbered(name, precision string) []string {
	if precision != "" && precision != "f32" {
		return nil
	}
	var out []string
	for _, number := range numbers {
		if of, _, _ := ParseNumber(number); of == name || of == Int8Class {
			out = append(out, number)
		}
	}
	return out
}

// ParseNumber splits a numbered class into name and number: "fma/1" into "fma" and 1. ok reports
// whether text is a numbered class.
func ParseNumber(text string) (name string, number int, ok bool) {
	name, digits, _ := strings.Cut(text, "/")
	number, err := strconv.Atoi(digits)
	return name, number, err == nil && number > 0 && name != "" && digits == strconv.Itoa(number)
}
