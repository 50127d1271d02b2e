package train

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/parallel"
)

// divide stores the plan of the stages, which records after every step how long they have
// waited.
func (s *Session) divide(p *parallel.Plan) {
	s.divided = p
	if tell := s.plan.config.Divided; tell != nil && !p.Ran { // after the run, Finished reports the waits
		tell(p)
	}
}

func (s *Session) moved(e parallel.MovedStage) {
	s.plan.emit(StageMoved{Stage: e.Stage, First: e.First, Last: e.Last, To: e.To,
		Step: s.trainer.progress.Step})
}

// stageShares returns the layers of the stages, and how long they have waited until now.
func (s *Session) stageShares() []StageShare {
	if s.divided == nil {
		return nil
	}
	var all []StageShare
	for _, p := range s.divided.Stages {
		all = append(all, StageShare{Devices: p.Devices, First: p.First, Last: p.Last, Layers: p.Layers,
			Expected: p.Idle, Waited: p.Waited})
	}
	return all
}

// stagedStep returns the measured and the expected duration of a step over stages.
func (s *Session) stagedStep() *StagedStep {
	if s.divided == nil || s.divided.Took == 0 {
		return nil
	}
	return &StagedStep{Seconds: s.divided.Took, Expected: s.divided.Step}
}

// StagesLine describes how long stages have waited, and the duration of a step. It returns
// "" without stages.
func StagesLine(stages []StageShare, step *StagedStep) string {
	var waited, expected []string
	for _, s := range stages {
		waited = append(waited, fmt.Sprintf("%.0f %%", 100*s.Waited))
		expected = append(expected, fmt.Sprintf("%.0f %%", 100*s.Expected))
	}
	if len(waited) == 0 {
		return ""
	}
	line := fmt.Sprintf("stages waited %s of the time of steps; %s were expected", listed(waited),
		listed(expected))
	if step != nil {
		line += "; " + step.String()
	}
	return line
}

// String describes the duration of a step.
func (s *StagedStep) String() string {
	p := parallel.Plan{Took: s.Seconds, Step: s.Expected}
	return p.StepLine()
}

// listed writes words as a list: "1 %, 2 % and 3 %".
func listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
