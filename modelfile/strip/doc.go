// Package strip makes one clean file of any training checkpoint, of bnctl or of another
// program, and reports what it removed: replica connections, wrappers, optimizer tensors,
// averages, other sets of statistics. Weights are never changed, except that the parts that
// pruning, weight_norm and spectral_norm store in place of a weight are combined as PyTorch
// does it.
//
// The extension of the output decides its format. A template (.bnm) needs the architecture,
// which is found in the zoo or named; .pth and .safetensors keep names, order and types of
// the tensors, and need no architecture.
//
// Use Files for files. For a checkpoint in memory use serialize.Strip; to use a
// checkpoint's model at once, modelfile.Open.
package strip
