package ranks

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/tensor"
)

// An unreadable report of another rank ends the run, and the error names that rank.
func TestReportThatIsNone(t *testing.T) {
	var wait sync.WaitGroup
	errs := make([]error, 2)
	for rank, r := range inprocess.New(2) {
		wait.Go(func() {
			p := fabric.New(r, 20*time.Second)
			if rank == 1 {
				_, errs[rank] = p.AllGather(t.Context(), []byte("{"))
			} else {
				_, errs[rank] = Gather(t.Context(), p, Verdict{}, nil)
			}
			errs[rank] = errors.Join(errs[rank], p.Close())
		})
	}
	wait.Wait()
	if err := errs[0]; err == nil || !strings.Contains(err.Error(), "rank 1: a report of 1 bytes has no end") {
		t.Errorf("%v", err)
	}
	if errs[1] != nil {
		t.Error(errs[1])
	}
}

// TestReportsThatAreBroken: a report of another rank is read completely or rejected.
func TestReportsThatAreBroken(t *testing.T) {
	like := []tensor.Tensor{tensor.New(tensor.F32, 2, 2), tensor.New(tensor.F64, 2, 1)} // 16 bytes per replica
	for _, c := range []struct {
		record string
		moment int // bytes of the first moment; -1: the report is rejected
	}{
		{"", -1}, {"{}", -1}, {"\x00", -1}, {"{\x00", -1}, {"{}\x00", 0},
		{"{}\x00" + strings.Repeat("x", 32), 16}, {"{}\x00" + strings.Repeat("x", 33), -1},
		{`{"retry":true}` + "\x00", 0}, {`{"fatal":"fire"}` + "\x00" + "xyz", 0},
	} {
		var r Report
		err := r.parse([]byte(c.record), like)
		if (err != nil) != (c.moment < 0) {
			t.Errorf("%q: error %v", c.record, err)
		}
		if err == nil && c.moment > 0 && (len(r.moments) != 2 || len(r.moments[0]) != c.moment) {
			t.Errorf("%q: %d moments, the first of %d bytes", c.record, len(r.moments), len(r.moments[0]))
		}
	}
	var r Report
	if err := r.parse([]byte("{}\x00anything"), nil); err != nil || r.moments != nil {
		t.Errorf("a run without moments: %v, %v", r.moments, err)
	}
}
