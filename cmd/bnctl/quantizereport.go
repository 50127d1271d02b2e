package main

import "github.com/bnctl/bnctl/modelfile/quantize"

// reportQuantized says what became of each layer.
func reportQuantized(o *output, r *quantize.Report) {
	o.event("quantize", r)
	o.results(r.Lines())
}
