// Package modelfile opens any file that holds a model: a template or a
// checkpoint of bnctl, or a file of PyTorch, ONNX, Keras, TensorFlow, Caffe or
// safetensors. The same Options serve all of them: which architecture a file
// of mere tensors holds, which of its tensors are the model, and how pictures
// become the model's input.
//
// Use Open for a model that is to be changed or written, View for one that
// predicts, Start for one that is to be trained, and Strip for a checkpoint of
// bnctl. Package formats is beneath: use that for tensors without a graph.
//
// Nothing is guessed, and nothing is left out in silence: what of a file was
// taken, and what was not, comes back as a Choice. How pictures become input
// is known from the file or from Options; a model of which neither says so
// takes arrays.
//
// What a caller asks for and cannot have is a *problem.Error, or a *problem.Unknown
// for a name that is none of the zoo; all other errors are about the file.
package modelfile
