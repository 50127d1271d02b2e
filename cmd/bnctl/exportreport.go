package main

import (
	"github.com/bnctl/bnctl/modelfile/export"
	"github.com/bnctl/bnctl/modelfile/quantize"
)

// reportExport prints what was exported.
func reportExport(o *output, r *export.Report) {
	if r.Format == "onnx" {
		noteOfPictures(o, r.Output, r.Model, "export")
	}
	o.event("export", r)
	o.results(r.Lines())
	if r.Temperature != 0 {
		o.note("the model is calibrated, and a file of tensors alone has no graph for that: divide its logits "+
			"by %.6g", r.Temperature)
	}
	if r.Model.Thresholds != nil {
		o.note("the file has no place for the thresholds of the model's labels: inspect %s lists them",
			quoted(r.Input))
	}
	warnOfSickness(o, &r.Sick, r.Input)
}

// reportQuantized prints the result of quantization for each layer.
func reportQuantized(o *output, r *quantize.Report) {
	o.event("quantize", r)
	o.results(r.Lines())
}
