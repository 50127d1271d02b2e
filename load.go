package bnctl

import "github.com/bnctl/bnctl/inprocess"

// Predictor is a model that predicts in this process: see package inprocess, which a program can also
// import alone, without the parts of bnctl that open devices as processes.
type Predictor = inprocess.Predictor

// LoadOptions define how Load reads a model, and how it predicts.
type LoadOptions = inprocess.Options

// Load reads a model and prepares it to predict in this process, without fleet.Serve. source is the
// path of any model file, or the bytes of a template. The caller closes the predictor.
func Load[Source string | []byte](source Source, o LoadOptions) (*Predictor, error) {
	return inprocess.Load(source, o)
}
