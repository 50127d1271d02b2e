package strip

import (
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
)

// stripForeign strips the files of another program.
func stripForeign(o Options) (*Report, error) {
	options, err := o.File.Foreign()
	if err != nil {
		return nil, err
	}
	options.TensorsOnly = !o.Template()
	f, err := formats.OpenRanks(o.Inputs, options)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &Report{Format: f.Format}
	if !o.Template() {
		formats.ExcludeNonWeights(f)
		r.Suspect = formats.SuspectTensors(f)
	} else if r.Model, err = modelfile.Template(f, o.File); err != nil { // Template may leave out more tensors
		return nil, &NoTemplate{err}
	}
	choice := modelfile.NewChoice("", f, o.File)
	r.Removed, r.ChoiceReport, r.Findings, r.Parameters = *choice.Removed(), choice.Report(), f.Findings,
		formats.Parameters(f)
	if r.Sick.Norms, err = formats.Norms(f); err != nil {
		return nil, err
	}
	r.BN = Norms{Layers: len(r.Sick.Norms), Merged: "as in the file"}
	return r, r.write(o, f.Tensors, f.Labels)
}
