package parallel

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// forgetful is a device that leaves a tensor unchanged in every commit from some version on.
type forgetful struct {
	device.Device
	tensor string
	from   device.Version
}

type forgetfulExe struct {
	device.Executable
	d *forgetful
}

func (d *forgetful) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable,
	error) {
	exe, err := d.Device.Load(ctx, p, c)
	return &forgetfulExe{exe, d}, err
}

func (e *forgetfulExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	old, err := e.Executable.Read(ctx, e.d.tensor)
	if err == nil {
		err = e.Executable.Commit(ctx, v, h)
	}
	if err == nil && v >= e.d.from {
		err = e.Executable.Write(ctx, e.d.tensor, old)
	}
	return err
}

// trainedOn makes steps on members and returns the state, or the error.
func trainedOn(t *testing.T, members []Member, c Config, steps int) (map[string]tensor.Tensor, error) {
	t.Helper()
	d := opened(t, members, c)
	for i := range steps {
		if _, err := d.Step(t.Context(), batchOf(20-i, 5, Keep, 20)); err != nil {
			return nil, err
		}
		if err := d.Commit(t.Context(), device.Hyper{"lr": 0.1}); err != nil {
			return nil, err
		}
	}
	return d.State(t.Context())
}

// A foreign device that does not update a tensor is lost before its error can spread, or
// named in an error if it may have spread.
func TestADeviceThatLeavesATensorIsFound(t *testing.T) {
	const name = "fc3.bias"
	want, err := trainedOn(t, refs(t, 1), Config{}, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		forgets []bool
		from    device.Version
		lost    string
		says    string // text of the error; "": no error, and the state is undisturbed
	}{
		{"at once", []bool{false, true}, 0, "sick1", ""},
		{"at once, it is the first", []bool{true, false}, 0, "sick0", ""},
		{"at once, of three", []bool{false, false, true}, 0, "sick2", ""},
		{"at the second step", []bool{false, true}, 1, "sick1", ""},
		{"later", []bool{false, true}, 4, "",
			"sick1: Commit: lost: after step 7 fc3.bias is not what ref0 has; after step 4 it was"},
		{"none", []bool{false, false}, 0, "", ""},
		{"all alike, and nobody else", []bool{true}, 0, "", "another state"},
	} {
		members, lost := refs(t, len(c.forgets)), ""
		for i, is := range c.forgets {
			if is {
				members[i] = Member{Name: "sick" + members[i].Name[3:], Foreign: true,
					Device: &forgetful{members[i].Device, name, c.from}}
			}
		}
		got, err := trainedOn(t, members, Config{Lost: func(e LostDevice) { lost = e.Device }}, 7)
		if lost != c.lost {
			t.Errorf("%s: %q is lost, want %q", c.what, lost, c.lost)
		}
		switch same := err == nil && sameState(got, want); {
		case c.says == "another state":
			if err != nil || same {
				t.Errorf("%s: %v, the same state %v: there is nobody to compare with", c.what, err, same)
			}
		case c.says == "" && !same:
			t.Errorf("%s: %v, another state than undisturbed", c.what, err)
		case c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", c.what, err, c.says)
		}
	}
}

func sameState(a, b map[string]tensor.Tensor) bool {
	for name, t := range a {
		if string(t.Bytes) != string(b[name].Bytes) {
			return false
		}
	}
	return len(a) == len(b)
}

// If two foreign devices hold different values, both are named, since either may be right.
func TestDevicesThatDisagreeAreNamed(t *testing.T) {
	members := refs(t, 2)
	for i := range members {
		members[i].Foreign = true
	}
	members[1].Device = &forgetful{members[1].Device, "fc3.bias", 0}
	_, err := trainedOn(t, members, Config{}, 1)
	if want := "ref0 and ref1 hold different values of fc3.bias"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// dazed is a device that predicts NaN from one row on.
type dazed struct {
	device.Device
	from int
}

type dazedExe struct {
	device.Executable
	from int
}

func (d dazed) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := d.Device.Load(ctx, p, c)
	return dazedExe{exe, d.from}, err
}

func (e dazedExe) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	o, err := e.Executable.Run(ctx, s)
	if err == nil && s.Function == graph.Predict && s.Rows[0] > e.from {
		o.Outputs[0].F32()[e.from*o.Outputs[0].Shape[1]] = float32(math.NaN())
	}
	return o, err
}

// A foreign device is lost if its prediction is not finite and the prediction of the built-in
// device is finite. A prediction that is not finite on either device is returned as it is, and
// checked once.
func TestPredictionsThatAreNotFinite(t *testing.T) {
	x := batchOf(7, 5, Keep, 20).Rows["x"]
	want, err := opened(t, refs(t, 1), Config{}).Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, sick := range []bool{false, true} { // whether the model yields NaN
		asked, lost := 0, ""
		c := Config{Lost: func(e LostDevice) { lost = e.Device + ": " + e.Reason.Error() }}
		c.Referee = func(_ context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
			out := tensor.New(tensor.F32, 1, 3)
			if asked++; sick {
				out.F32()[1] = float32(math.NaN())
			}
			return []tensor.Tensor{out}, nil
		}
		members := refs(t, 2)
		members[0] = Member{Name: "dazed", Foreign: true, Device: dazed{members[0].Device, 2}}
		d := opened(t, members, c)
		for range 2 {
			got, err := d.Predict(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			if same := string(got[0].Bytes) == string(want[0].Bytes); same == sick {
				t.Errorf("sick model %v: the undisturbed outputs: %v", sick, same)
			}
		}
		says := "dazed: dazed: Run predict: lost: output logits of row 2 is infinite or NaN, and finite on"
		if asked != 1 || sick != (lost == "") || !sick && !strings.HasPrefix(lost, says) {
			t.Errorf("sick model %v: asked %d times, lost %q", sick, asked, lost)
		}
	}
}

// In a training only a built-in member can be the referee. If the outputs of a validation are
// infinite or NaN on a foreign device only, the device is at fault and not the model.
func TestValidationsThatAreNotFinite(t *testing.T) {
	x := batchOf(7, 5, Keep, 20).Rows["x"]
	want, err := opened(t, refs(t, 1), Config{}).Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		foreign []bool
		dazed   int
		lost    string
	}{
		{"beside one of bnctl's own", []bool{true, false}, 0, "ref0"},
		{"beside one of bnctl's own, which is the first", []bool{false, true}, 1, "ref1"},
		{"bnctl's own", []bool{false, true}, 0, ""},
		{"beside another of another maker", []bool{true, true}, 0, ""},
	} {
		members, lost := refs(t, 2), ""
		for i := range members {
			members[i].Foreign = c.foreign[i]
		}
		members[c.dazed].Device = dazed{members[c.dazed].Device, 2}
		d := opened(t, members, Config{Lost: func(e LostDevice) { lost = e.Device }})
		got, err := d.Predict(t.Context(), x)
		if err != nil || lost != c.lost {
			t.Errorf("%s: %v, lost %q, want %q", c.what, err, lost, c.lost)
		}
		if same := err == nil && string(got[0].Bytes) == string(want[0].Bytes); same != (c.lost != "") {
			t.Errorf("%s: the undisturbed outputs: %v", c.what, same)
		}
	}
}

// A reopened device that is still wrong is lost again, each time before its error can
// spread.
func TestADeviceThatLeavesATensorComesBack(t *testing.T) {
	want, err := trainedOn(t, refs(t, 1), Config{}, 7)
	if err != nil {
		t.Fatal(err)
	}
	var lost atomic.Int32
	sick := func() device.Device { return &forgetful{refs(t, 1)[0].Device, "fc3.bias", 0} }
	members := append(refs(t, 1), Member{Name: "sick", Foreign: true, Device: sick()})
	c := Config{Lost: func(LostDevice) { lost.Add(1) },
		Reopen: func(context.Context, string) (device.Device, error) { return sick(), nil }}
	got, err := trainedOn(t, members, c, 7)
	if err != nil || !sameState(got, want) || lost.Load() == 0 {
		t.Errorf("%v, lost %d times, the undisturbed state: %v", err, lost.Load(), err == nil && sameState(got, want))
	}
}
