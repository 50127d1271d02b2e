package onnx

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/qdq"
)

// ofConstants is the refusal of operators that are supported only on constants.
const ofConstants = "values, other than constants"

// TestOperators: every operator in the table is supported, and docs/formats.md shows the
// table.
func TestOperators(t *testing.T) {
	page, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, op := range slices.Sorted(maps.Keys(table)) {
		if strings.HasPrefix(op, qdq.Domain+".") { // only package qdq makes them
			continue
		}
		o := table[op]
		if !o.isRead() {
			t.Errorf("%s is in the table and not read", op)
		}
		refused := o.refused
		anywhere := []string{"Constant", "ConstantOfShape", "Shape", "Size"}
		if o.make == nil && o.quantised == nil && o.structure == nil && !slices.Contains(anywhere, op) {
			refused = strings.TrimPrefix(refused+"; "+ofConstants, "; ")
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", op, o.attributes.Honoured, refused,
			o.attributes.Irrelevant))
	}
	if want := strings.Join(rows, ""); !strings.Contains(string(page), want) {
		t.Errorf("docs/formats.md does not show the table as it is; want\n%s", want)
	}
}

// TestRegisterTwice: registering an operator again panics.
func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an operator is registered twice")
		}
	}()
	register(operators{"Relu": {}})
}
