package parallel

import "testing"

// Whoever is lost, and whenever: with one device that updates for all the bits
// are those of one device.
func TestOneDeviceUpdatesForAll(t *testing.T) {
	want, err := trainSteps(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for lost := range 3 {
		for _, inCommit := range []bool{false, true} {
			for dies := 1; dies <= 4; dies++ {
				members := refs(t, 3)
				members[lost].Device = &mortal{Device: members[lost].Device, dies: dies, inCommit: inCommit}
				got, err := trainSteps(t, members, Config{Template: true})
				if err != nil {
					t.Fatalf("device %d dies at run %d, in commit %v: %v", lost, dies, inCommit, err)
				}
				if got != want {
					t.Errorf("device %d dies at run %d, in commit %v: other bits", lost, dies, inCommit)
				}
			}
		}
	}
}
