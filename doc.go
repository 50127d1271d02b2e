// Package bnctl trains batch-normalised networks on any mix of devices, strips the traces of training on
// many devices, and predicts with the one template that remains. The devices determine the speed and not the
// result: the same recipe gives the same template, bit for bit.
//
// Most programs need only this package: the command bnctl is a program on top of it. Use Open and Run.Train
// to train,
//
//	run, err := bnctl.Open(ctx, bnctl.TrainOptions{Model: "lenet-bn", Data: "glyphs", Output: "glyphs.bnm"})
//	run.Recipe().LR = 0.1
//	template, err := run.Train(ctx)
//
// and Load to predict in this process. Each operation on the file of a model is one call:
//
//	strip.Files(strip.Options{Inputs: []string{"model.pth"}, Output: "model.bnm"})
//	export.File(ctx, export.Options{Input: "model.bnm", Output: "model.onnx"})
//	doctor.Examine("model.bnm", modelfile.Options{})
//
// They use packages that a program can also use directly:
//
//	data       samples: a folder of pictures, CIFAR-10, arrays, or a custom source
//	modelfile  a model from any file: bnctl's, PyTorch, ONNX, Keras, TensorFlow, Caffe
//	           (beneath it strip, export, inspect, doctor)
//	models     networks of the zoo, or one that you write
//	train      a recipe, and the session that makes a template from it
//	fleet      devices from words: "2xcpu", "cuda", "auto"
//	predict    a model on devices, for arrays or samples, and the meaning of its outputs
//	serialize  templates and checkpoints as files
//
// A program that opens CPU devices calls fleet.Serve(os.Args) at the start of main: each
// device is a process of the same executable, so that the crash of a device does not end
// the program.
//
// An error that the caller can correct is a *problem.Error with the option, the reason and
// advice. The error about a file that another program is writing wraps problem.ErrLocked.
// No function here panics or leaves anything running.
//
// docs/library.md has more short programs.
package bnctl
