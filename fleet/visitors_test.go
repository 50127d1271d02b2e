package fleet

import "testing"

// TestAMachineLeavesWhole checks that all devices of a machine that has left are withdrawn, even if the
// machine is listed again before the run has tried to reopen the last one. Then the machine counts as new.
func TestAMachineLeavesWhole(t *testing.T) {
	v := newVisitors(&Fleet{targets: map[string]target{}, providers: map[string]Provider{}})
	defer v.close()
	v.setOpen("a:1", 2)
	for range missedVisits - 1 {
		v.miss(nil)
	}
	if !v.mayReopen("a:1/cpu:0") {
		t.Error("it counts as gone too early")
	}
	v.miss(nil)
	if v.mayReopen("a:1/cpu:0") {
		t.Error("it has left, and a device may be opened")
	}
	v.miss([]string{"a:1"})
	if v.byAddress["a:1"] == nil {
		t.Error("it is new, and has another device")
	}
	if v.mayReopen("a:1/cpu:1") || v.byAddress["a:1"] != nil {
		t.Errorf("its other device stays: %+v", v.byAddress["a:1"])
	}
}
