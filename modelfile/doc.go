// Package modelfile opens any file that holds a model: a template or a checkpoint of bnctl,
// or a file of PyTorch, ONNX, Keras, TensorFlow, Caffe or safetensors. One Options type
// serves all of them: which architecture a file of tensors without a graph holds, which
// tensors belong to the model, and how pictures become the model's input.
//
// Use Open for a model that is to be changed or written, OpenReadOnly for prediction, Start
// for training, and Strip for a checkpoint of bnctl. For tensors without a graph use the
// underlying package formats.
//
// Nothing is guessed, and nothing is left out silently: a Choice lists the parts of a file
// that were used and the parts that were left out. The preprocessing of pictures comes from
// the file or from Options; without it a model accepts only arrays.
//
// If a request cannot be fulfilled, the error is a *problem.Error, or a *problem.Unknown
// for a name that is not in the zoo. All other errors are about the file.
package modelfile
