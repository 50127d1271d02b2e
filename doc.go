// Package bnctl trains batch-normalised networks on any mix of devices, strips
// what training on many devices leaves behind, and predicts with the one
// template that remains. Devices decide how fast, never what: the same recipe
// gives the same template, bit for bit.
//
// The three functions here do what most programs want, with the defaults of the
// command bnctl. They use packages that a program can also use directly:
//
//	data       samples: a folder of pictures, CIFAR-10, arrays, or a source of your own
//	modelfile  a model from any file: bnctl's, PyTorch, ONNX, Keras, TensorFlow, Caffe
//	models     networks of the zoo, or one that you write
//	train      a recipe, and the run that makes a template of it
//	fleet      devices from words: "2xcpu", "cuda", "auto"
//	predict    a model on devices, for arrays or samples, and what its outputs mean
//	doctor     what is wrong with a model's statistics, and its repair
//	serialize  templates and checkpoints as files
//
// A program that opens CPU devices calls fleet.Serve(os.Args) at the start of
// main: each device is a process of the same executable, so that the crash of a
// device does not end the program.
//
// An error that the caller can correct is a *problem.Error with the option,
// what is wrong with it and what to do. Nothing here panics or leaves anything
// running.
//
// docs/library.md has more short programs.
package bnctl
