package class

import (
	"slices"
	"strconv"
	"strings"
)

// Int8Class is the class of the operations of int8 templates. Every device at precision f32 has it, in
// addition to the class that it names.
const Int8Class = "int8"

// numbers are the numbered classes of this release. A number never changes its bits: a change of
// bits is a new number here, with an ADR and a line in docs/promises.md. AMX, and every class at
// precision bf16, have no number: their bits are promised within one release.
var numbers = []string{FMA + "/1", Generic + "/1", Int8Class + "/1", Ref + "/1"}

// retired are the numbers that this release no longer computes, with the last release that does.
var retired = map[string]string{}

// NumberedClasses returns the numbered classes that this release computes, sorted.
func NumberedClasses() []string { return slices.Clone(numbers) }

// Retired returns the last release that computes a numbered class. It returns "" if this release
// computes it, or if no release has.
func Retired(number string) string { return retired[number] }

// Numbered returns the numbered classes of a device of a class that is opened at a precision: of
// "fma" at "f32" they are fma/1 and int8/1. It returns nil at precision bf16.
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

// ParseNumber splits a numbered class: "fma/1" is "fma" and 1. It reports whether text is one.
func ParseNumber(text string) (name string, number int, ok bool) {
	name, digits, _ := strings.Cut(text, "/")
	number, err := strconv.Atoi(digits)
	return name, number, err == nil && number > 0 && name != "" && digits == strconv.Itoa(number)
}
