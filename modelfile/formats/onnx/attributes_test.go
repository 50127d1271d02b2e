package onnx

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// ofConstants is refused of the operators that are only computed.
const ofConstants = "values, other than constants"

// TestAttributes: the table has all operators that are read and no other, and
// docs/formats.md shows it.
func TestAttributes(t *testing.T) {
	operators := map[string]bool{}
	for op := range makers {
		operators[op] = true
	}
	for op := range folds {
		operators[op] = true
	}
	for op := range integerOps {
		operators[op] = true
	}
	for _, op := range structural {
		operators[op] = true
	}
	page, err := os.ReadFile("../../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, op := range slices.Sorted(maps.Keys(attributes)) {
		k := attributes[op]
		if !operators[op] {
			t.Errorf("%s is in the table and not read", op)
		}
		refused := refusedValues[op]
		_, integer := integerOps[op]
		anywhere := append([]string{"Constant", "ConstantOfShape", "Shape", "Size"}, structural...)
		if makers[op] == nil && !integer && !slices.Contains(anywhere, op) {
			refused = strings.TrimPrefix(refused+"; "+ofConstants, "; ")
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", op, k.Honoured, refused, k.Irrelevant))
	}
	for op := range operators {
		if _, ok := attributes[op]; !ok {
			t.Errorf("%s is not in the table", op)
		}
	}
	for op := range refusedValues {
		if !operators[op] {
			t.Errorf("%s is not read", op)
		}
	}
	if want := strings.Join(rows, ""); !strings.Contains(string(page), want) {
		t.Errorf("docs/formats.md does not show the table as it is; want\n%s", want)
	}
}
