package ptx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// operand returns the register of a named operand: a register, an immediate, a special
// register or the address of a variable. width is the required width, or 0 if any is
// allowed.
func (c *compiler) operand(name string, width int) (int, error) {
	r, ok := c.regs[name]
	if !ok {
		var err error
		if r, err = c.other(name, width); err != nil {
			return 0, err
		}
	}
	if has := c.widths[r]; has != 0 && width != 0 && has != width {
		return 0, fmt.Errorf("%s has %d bits, the instruction wants %d", name, has, width)
	}
	return r, nil
}

// special matches the registers with the position of a thread.
var special = regexp.MustCompile(`^%n?(tid|ctaid)\.[xyz]$`)

func (c *compiler) other(name string, width int) (int, error) {
	if special.MatchString(name) {
		if _, ok := c.specials[name]; !ok {
			c.specials[name] = c.register("u32")
		}
		return c.specials[name], nil
	}
	if address, ok := c.mod.consts[name]; ok {
		return c.value(address), nil
	}
	v, err := immediate(name)
	if width > 0 && width < 64 {
		v &= 1<<width - 1
	}
	return c.value(v), err
}

// immediate parses a number, for example 12, -1, 0x10, 0f3F800000 or 0d3FF0000000000000.
func immediate(s string) (uint64, error) {
	for prefix, digits := range map[string]int{"0f": 8, "0d": 16} {
		if hex, ok := strings.CutPrefix(s, prefix); ok && len(hex) == digits {
			return strconv.ParseUint(hex, 16, 4*digits)
		}
	}
	if strings.HasPrefix(s, "-") {
		v, err := strconv.ParseInt(s, 0, 64)
		return uint64(v), err
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("the operand %q is not known", s)
	}
	return v, nil
}

// value returns a register that has the value v in all threads.
func (c *compiler) value(v uint64) int {
	r, ok := c.words[v]
	if !ok {
		r = len(c.widths)
		c.widths = append(c.widths, 0)
		c.words[v], c.fixed[r] = r, v
	}
	return r
}

// target returns the register that an instruction writes.
func (c *compiler) target(name string, width int) (int, error) {
	if r, ok := c.regs[name]; !ok || c.widths[r] == 0 || strings.HasPrefix(name, "[") {
		return 0, fmt.Errorf("%s is not a register that can be written", name)
	}
	return c.operand(name, width)
}
