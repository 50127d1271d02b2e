package modelfile

import (
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// Parse does the same as Open for a template of bnctl that is already in memory. name is
// the file's name in errors. The model shares no memory with b.
func Parse(name string, b []byte, o Options) (*Opened, error) {
	if !serialize.HasMagic(b) {
		return nil, problem.Advise("convert the file with {strip}, or name its path",
			"%s: bytes of another program's file are not read, only a template of bnctl", name)
	}
	if o.Merge != "" {
		return nil, problem.New("merge", string(o.Merge), "it is for a checkpoint in a file", "leave it out")
	}
	if err := o.refuseForeign(name + " is a file of bnctl"); err != nil {
		return nil, err
	}
	m, err := serialize.ParseModel(name, b)
	if err == nil {
		m, err = o.applyTo(m)
	}
	if err != nil {
		return nil, err
	}
	return &Opened{Model: m}, nil
}
