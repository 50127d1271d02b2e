// Package predict runs a model on the devices of a fleet: for arrays, for the samples of a
// data source in their order, or for an evaluation on labels. A prediction depends on the
// model and the input alone: it is, bit for bit, the result that evaluation during training
// computed, whatever the devices, the batch and the other inputs.
//
// Use it wherever a trained model answers: a command, a server, a test. Open loads the
// model; All and Evaluate read a source, and Predict accepts a batch. Scores and
// EvaluateWhole are for models that give each pixel a class: pictures of any size. Answers
// is the rule by which outputs are classes with probabilities, or unchanged numbers.
//
// Package modelfile opens the model, and defines how pictures become its input.
package predict
