package main

import (
	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
)

// observer prints facts about a run before it begins.
func (t *trainer) observer(o bnctl.TrainOptions) bnctl.Observer {
	return bnctl.Observer{
		Data:  func(option string, i data.Info) { t.out.notes(flag(option), i.Notes()) },
		Model: func(m *modelfile.Started) { tellOfModel(t.out, m, o.Start) },
		Split: func(h *data.HeldOut) { t.out.notes("--val-split", h.Notes()) },
		Copies: func(c *data.Copies) {
			t.out.event("copies", c)
			t.out.notes("--data", c.Notes("in the data for validation too"))
		},
		Note:    t.out.noteOptions,
		Unused:  func(unused error) { t.out.note("%v", asFlags(unused)) },
		Devices: func(f *fleet.Fleet) { tellOfDevices(t.out, f) },
	}
}
