package main

import (
	"math"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

func init() { scriptCommands["close"] = closeArrays }

// closeArrays implements the command "close A B TOLERANCE". It compares two .npy files of floats. They must
// have the same number of elements, and these must differ by at most the tolerance.
func closeArrays(ts *testscript.TestScript, _ bool, args []string) {
	var all [2][]float32
	for i := range all {
		f, err := os.Open(ts.MkAbs(args[i]))
		ts.Check(err)
		t, err := data.ReadNPY(f)
		ts.Check(err)
		f.Close()
		if t.DType != tensor.F32 {
			ts.Fatalf("%s holds %v", args[i], t.DType)
		}
		all[i] = t.F32()
	}
	tolerance, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	if len(all[0]) != len(all[1]) {
		ts.Fatalf("%d and %d elements", len(all[0]), len(all[1]))
	}
	worst := 0.0
	for i, v := range all[0] {
		worst = max(worst, math.Abs(float64(v)-float64(all[1][i])))
	}
	if !(worst <= tolerance) {
		ts.Fatalf("the largest difference is %g, want at most %g", worst, tolerance)
	}
}
