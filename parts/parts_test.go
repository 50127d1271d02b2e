package parts

import (
	"slices"
	"testing"
)

// TestNumbers checks the form of the table, and the results for numbers that exist and for others.
func TestNumbers(t *testing.T) {
	all := All()
	if !slices.IsSorted(all) || !slices.Contains(all, "order/1") || len(all) != len(numbers) {
		t.Errorf("the parts are %q", all)
	}
	for number, want := range map[string]bool{"order/1": true, "order/2": false, "order": false, "nothing/1": false,
		"": false, "order/01": false} {
		if Has(number) != want {
			t.Errorf("%q: %t, want %t", number, !want, want)
		}
	}
	for number, release := range retired {
		if Has(number) || release == "" {
			t.Errorf("%s is retired since %q and there", number, release)
		}
	}
	if Number("nothing") != "" {
		t.Error("a part that does not exist has a number")
	}
}
