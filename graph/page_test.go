package graph

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// page is the description of the text form for those who write models.
func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../docs/graph.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The models on the page are valid.
func TestPageHasModels(t *testing.T) {
	models := regexp.MustCompile("(?s)```graph\n(.*?)```").FindAllStringSubmatch(page(t), -1)
	if len(models) < 2 {
		t.Fatalf("%d models on the page", len(models))
	}
	for _, m := range models {
		g, err := ParseGraph([]byte(m[1]))
		if err == nil {
			err = g.Check()
		}
		if err != nil {
			t.Errorf("%v\n%s", err, m[1])
		}
	}
}

// The page has a row for every operation that a model can be made of, with
// all its attributes, and for no other.
func TestPageHasOperations(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.Lines(page(t)) {
		if cells := strings.Split(line, "|"); len(cells) > 4 && strings.HasPrefix(cells[1], " `") {
			rows[strings.Trim(cells[1], " `")] = cells[3]
		}
	}
	for _, op := range Ops() {
		attributes, ok := rows[op.String()]
		inModels := op == Image || op.Int8() || op.Differentiable() && op != Normalise && op != SoftmaxXent
		if ok != inModels {
			t.Errorf("%v: on the page %v, want %v", op, ok, inModels)
		}
		if !inModels {
			continue
		}
		for _, a := range op.row().attrs {
			if !regexp.MustCompile(`\b` + a.key + `\b`).MatchString(attributes) {
				t.Errorf("%v: its row does not mention attribute %s", op, a.key)
			}
		}
		if n := len(op.row().attrs); strings.Count(attributes, "=") > n {
			t.Errorf("%v: its row has more than its %d attributes", op, n)
		}
		delete(rows, op.String())
	}
	for name := range rows {
		t.Errorf("%s is not an operation", name)
	}
}
