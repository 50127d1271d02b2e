package graph

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	protoOp        = regexp.MustCompile(`^  OP_(\w+) = (\d+);`)
	protoAttribute = regexp.MustCompile(`^  // - (\w+) (int|float|bool|text|ints|floats)( = [^:]*)?: \S`)
)

// protoAttributes returns the attributes of each operation in device.proto, by the
// operation's name there: "stride ints = [1,1]", one after the other.
func protoAttributes(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../device/proto/device/v1/device.proto")
	if err != nil {
		t.Fatal(err)
	}
	says, comment := map[string]string{}, []string{}
	for line := range strings.Lines(string(b)) {
		op, a := protoOp.FindStringSubmatch(line), protoAttribute.FindStringSubmatch(line)
		switch {
		case op != nil:
			says[op[1]], comment = strings.Join(comment, "; "), nil
		case a != nil:
			comment = append(comment, a[1]+" "+a[2]+a[3])
		}
	}
	return says
}

// The author of a device reads device.proto and not the table. So device.proto must list all attributes of
// an operation with type and default.
func TestProtoHasAttributes(t *testing.T) {
	says := protoAttributes(t)
	for _, op := range Ops() {
		var want []string
		for _, s := range op.row().attrs {
			w := s.key + " " + protoType(s.def)
			if !s.required {
				w += " = " + protoDefault(s.def)
			}
			want = append(want, w)
		}
		name := strings.ToUpper(op.String())
		if got := says[name]; got != strings.Join(want, "; ") {
			t.Errorf("OP_%s: device.proto has the attributes\n\t%s\nthe table\n\t%s", name, got,
				strings.Join(want, "; "))
		}
	}
}

func protoType(def any) string {
	switch def.(type) {
	case int64:
		return "int"
	case float64:
		return "float"
	case bool:
		return "bool"
	case string:
		return "text"
	case []int64:
		return "ints"
	}
	return "floats"
}

func protoDefault(def any) string {
	switch d := def.(type) {
	case string:
		return strconv.Quote(d)
	case float64:
		for _, n := range []float64{255, 6} {
			if d == 1/n {
				return fmt.Sprintf("1/%g", n)
			}
		}
	}
	return strings.ReplaceAll(fmt.Sprint(def), " ", ",")
}
