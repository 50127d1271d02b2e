package main

import (
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/train/job"
)

// listener prints what is settled of a run.
func (t *trainer) listener(options job.Options) job.Listener {
	return job.Listener{
		Source: func(option string, i data.Info) { tellOfFiles(t.out, flag(option), i) },
		Model:  func(m *modelfile.Started) { tellOfModel(t.out, m, options.Start) },
		Note:   t.out.note,
		Idle:   func(idle error) { t.out.note("%v", asFlags(idle)) },
	}
}
