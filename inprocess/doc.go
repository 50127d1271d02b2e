// Package inprocess predicts with a model in the calling process. It starts no process and uses no
// sockets, shared memory or files, so that it fits libraries, tests, plugins, serverless functions and
// WebAssembly. The outputs have the bits of the command bnctl predict.
//
// Load reads a template from a file or from bytes, and returns a Predictor:
//
//	p, err := inprocess.Load("cifar.bnm", inprocess.Options{})
//	answers, err := p.Predict(ctx, inprocess.Image{File: jpeg})
//	outputs, err := p.Run(ctx, x)
//
// A program may have any number of predictors, and any number of goroutines may use one. The calls of
// a predictor run one after another, each on all of its threads. A waiting predictor uses no processor
// time.
//
// Use packages fleet and predict for several devices, GPUs, or an evaluation. There each device is a
// separate process, so that a crash of the device does not end the program. Package bnctl has Load as
// well, but imports fleet and predict.
package inprocess
