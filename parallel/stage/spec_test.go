package stage_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/parallel/stage"
)

// TestParse: text other than a number names layers. A number that is too large is rejected as a
// number, and an empty name is rejected.
func TestParse(t *testing.T) {
	for text, want := range map[string]stage.Spec{
		"":     {},
		"2":    {Number: 2},
		"auto": {Auto: true},
		"a,b":  {Layers: []string{"a", "b"}},
	} {
		if got, err := stage.Parse(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, why := range map[string]string{"99999999999999999999": "no network has so many layers",
		"0": "at least 1", "-1": "at least 1", "-99999999999999999999": "at least 1",
		",": "empty", "a,": "empty", ",a": "empty"} {
		if _, err := stage.Parse(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want one that says %q", text, err, why)
		}
	}
}
