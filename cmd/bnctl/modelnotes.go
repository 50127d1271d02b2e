package main

import (
	"slices"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/models"
)

// warnOfSickness writes a note if the model in a file has faulty statistics, and states which.
func warnOfSickness(o *output, s *doctor.Diagnosis, path string) {
	if faults := s.Faults(); len(faults) > 0 {
		o.note("%s is sick: %s; see bnctl doctor %s", path, modelfile.Few(faults), path)
	}
}

// warnOfModel is like warnOfSickness, for a model that was already read.
func warnOfModel(o *output, m *models.Model, path string) {
	s := doctor.Diagnose(m)
	warnOfSickness(o, &s, path)
}

// tellOfModel writes notes about the origin of the weights, and about changes of the classes.
func tellOfModel(o *output, m *modelfile.Started, options modelfile.StartOptions) {
	noteChoice(o, m.Choice)
	classes := m.Labels
	if len(m.PreviousLabels) > 0 && !slices.Equal(m.PreviousLabels, classes) {
		o.note("the model was trained on the classes %s; from here on they are %s (%s of the head moved)",
			models.ClassList(m.PreviousLabels), models.ClassList(classes), plural(m.MovedRows, "row"))
	}
	if has := m.Classes(); has > m.DataClasses && options.Classes == 0 {
		o.note("the model has %s, the data %d; --classes %d makes a new head", plural(has, "class"),
			m.DataClasses, m.DataClasses)
	}
	noteChoice(o, m.InitChoice)
	if m.Loaded != nil {
		o.event("init", m.Loaded.Report(options.Init))
		o.note("%s: %v", options.Init, m.Loaded)
		if m.Loaded.Fits != "" {
			o.note("less than half of %s has weights of the file; --model %s uses them all", m.Architecture,
				m.Loaded.Fits)
		}
	}
}
