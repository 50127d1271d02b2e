package keras

import (
	"fmt"
	"strings"
	"testing"
)

// TestInput closes the lengths that a description leaves open.
func TestInput(t *testing.T) {
	const relu = `"activation":"relu"`
	closed := functional("a", layerOf("Activation", "a", relu, "in"))
	open := strings.Replace(closed, "[null,8,8,2]", "[null,null,8,2]", 1)
	none := `{"class_name":"Sequential","config":[{"class_name":"Activation","config":{"name":"a","activation":"relu"}}]}`
	for _, c := range []struct {
		config string
		given  []int
		want   string // shape of the input, channels first, or text of the error
	}{
		{closed, nil, "[2 8 8]"}, {closed, []int{2, 8, 8}, "[2 8 8]"},
		{closed, []int{2, 9, 8}, "the input's size is [null,8,8,2], batch first, which input 2,9,8 does not fit"},
		{open, nil, "the input's size is open: [null,null,8,2]; say it with input 2,224,8"},
		{open, []int{2, 6, 8}, "[2 6 8]"},
		{open, []int{6, 8, 2}, "[2 6 8]"}, // in the file's order
		{open, []int{3, 6, 8}, "does not fit"}, {open, []int{2, 6}, "does not fit"},
		{none, nil, "say it with input"}, {none, []int{3, 4, 5}, "[3 4 5]"},
	} {
		n, err := parseModel([]byte(c.config))
		if err != nil {
			t.Fatal(err)
		}
		b := &build{weights: weights{}, major: 2, givenShape: c.given}
		m, err := b.toModel(n)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(m.Input().Shape)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%.80s with %v: %s, want %s", c.config, c.given, got, c.want)
		}
	}
}
