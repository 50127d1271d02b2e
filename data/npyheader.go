package data

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// npyHeader is the content of the Python dictionary at the start of an .npy file.
type npyHeader struct {
	dtype   tensor.DType
	fortran bool
	shape   []int
}

// parseNPYHeader reads the dictionary in a header. It must have the three keys, each once, in any order.
func parseNPYHeader(text string) (npyHeader, error) {
	p := npyParser{rest: text}
	var h npyHeader
	seen := map[string]bool{}
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		key := p.quoted()
		p.expect(":")
		if p.err == nil && seen[key] {
			p.fail("key %q stands there twice", key)
		}
		seen[key] = true
		p.value(key, &h)
		if !p.accept(",") && !strings.HasPrefix(p.rest, "}") {
			p.fail("want , or } at %.20q", p.rest)
		}
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if p.err == nil && !seen[key] {
			p.fail("key %q is missing", key)
		}
	}
	if p.err == nil && strings.TrimSpace(p.rest) != "" {
		p.fail("text after the dictionary: %.20q", p.rest)
	}
	return h, p.err
}

// npyParser reads those few kinds of Python literals that a header has. It keeps the first error.
type npyParser struct {
	rest string
	err  error
}

func (p *npyParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// accept consumes token if it is next, after spaces.
func (p *npyParser) accept(token string) bool {
	rest := strings.TrimLeft(p.rest, " \t\r\n")
	p.rest = rest
	if p.err != nil || !strings.HasPrefix(rest, token) {
		return false
	}
	p.rest = strings.TrimLeft(rest[len(token):], " \t\r\n")
	return true
}

func (p *npyParser) expect(token string) {
	if !p.accept(token) {
		p.fail("want %s at %.20q", token, p.rest)
	}
}

func (p *npyParser) value(key string, h *npyHeader) {
	switch key {
	case "descr":
		h.dtype = p.dtype()
	case "fortran_order":
		h.fortran = p.boolean()
	case "shape":
		h.shape = p.shape()
	default:
		p.fail("unknown key %q", key)
	}
}

func (p *npyParser) quoted() string {
	for _, quote := range []string{"'", `"`} {
		if p.accept(quote) {
			s, rest, ok := strings.Cut(p.rest, quote)
			if !ok {
				p.fail("a quoted text has no end")
			}
			p.rest = rest
			return s
		}
	}
	p.fail("want a quoted text at %.20q", p.rest)
	return ""
}

func (p *npyParser) boolean() bool {
	if p.accept("True") {
		return true
	}
	p.expect("False")
	return false
}

func (p *npyParser) dtype() tensor.DType {
	if strings.HasPrefix(p.rest, "[") {
		p.fail("%w", problem.Advise("save one field of it", "structured arrays are not supported"))
		return 0
	}
	descr := p.quoted()
	for _, n := range npyTypes {
		if n.descr == descr {
			return n.dtype
		}
	}
	p.fail("%w", problem.Advise("save it as '<f4', '<f8', '<i4', '<i8' or '|u1'",
		"element type %q is not supported", descr))
	return 0
}

func (p *npyParser) shape() []int {
	shape := []int{}
	p.expect("(")
	for p.err == nil && !p.accept(")") {
		digits := p.rest[:len(p.rest)-len(strings.TrimLeft(p.rest, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			p.fail("want a length at %.20q", p.rest)
		}
		p.rest = p.rest[len(digits):]
		p.accept("L") // Python 2 wrote the length 3 as 3L
		shape = append(shape, n)
		if len(shape) > tensor.MaxRank {
			p.fail("more than %d axes", tensor.MaxRank)
		}
		if !p.accept(",") && !strings.HasPrefix(p.rest, ")") {
			p.fail("want , or ) at %.20q", p.rest)
		}
	}
	return shape
}
