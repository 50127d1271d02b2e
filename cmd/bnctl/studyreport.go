package main

import (
	"github.com/bnctl/bnctl/cmd/bnctl/internal/study"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/study/experiment"
	"github.com/bnctl/bnctl/train"
)

// found prints a new result of the study, if results are JSON.
func (s *studyRun) found(v any) {
	name := "run"
	switch v.(type) {
	case study.Sampling:
		name = "sampling"
	case study.Speed:
		name = "speed"
	}
	s.out.event(name, v)
}

// see prints those events of a run that interest a user.
func (s *studyRun) see(e train.Event) {
	switch e := e.(type) {
	case train.EpochDone:
		if e.ValAccuracy != nil {
			s.out.note("   epoch %d: train loss %.4f, val loss %.4f, accuracy %.2f %%  (%.0f img/s)",
				e.Epoch, e.TrainLoss, *e.ValLoss, 100**e.ValAccuracy, e.Throughput)
		}
	case train.DeviceLost:
		s.out.note("   device %s lost at step %d: %s; %s", e.Device, e.Step, e.Reason, e.Successors())
	}
}

// report writes the table, the plots and the page of a study, and prints the table and the answers.
func (s *studyRun) report(r *study.Results) error {
	page, err := experiment.Write(s.options.Folder, r)
	if err != nil {
		return err
	}
	for _, row := range r.Table() {
		s.out.event("row", row)
	}
	s.out.result("%v", lines(r.Text()))
	for _, f := range r.Findings() {
		s.out.event("finding", f)
		s.out.result("%s\n   %s\n", f.Question, f.Answer)
	}
	s.out.event("study", map[string]any{"page": page, "runs": len(r.Runs)})
	s.out.result("wrote %s", page)
	return nil
}
