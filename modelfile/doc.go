// Package modelfile opens any file that holds a model: a template or a
// checkpoint of bnctl, or a file of PyTorch, ONNX, Keras, TensorFlow, Caffe or
// safetensors. The same Options serve all of them: which architecture a file
// of mere tensors holds, which of its tensors are the model, and how pictures
// become the model's input.
//
// Use Open for a model that is to be changed or written, OpenReadOnly for one that
// predicts, Start for one that is to be trained, and Strip for a checkpoint of
// bnctl. Package formats is beneath: use that for tensors without a graph.
//
// Nothing is guessed, and nothing is left out silently: a Choice says what was
// taken of a file and what was not. The preprocessing of pictures is given by
// the file or by Options; without it a model takes arrays alone.
//
// What a caller asks for and cannot have is a *problem.Error, or a *problem.Unknown
// for a name that is none of the zoo; all other errors are about the file.
package modelfile
