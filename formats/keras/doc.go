// Package keras reads models of Keras 1 to 3: whole models and weights alone in HDF5 (.h5,
// .hdf5, .weights.h5) and .keras archives.
//
// Use it for files that are known to come from Keras; package formats accepts files of any
// format.
//
// Keras stores images as (H, W, C); bnctl's graphs store (C, H, W). The reader transposes
// kernels, axes and the columns of dense layers accordingly, so that pictures have the
// channels first where they enter and leave the model, and the results are the same.
// Samples with other than three axes keep the file's order; the graph contains the
// transpositions that layers need. The reader removes the layers that multi_gpu_model and
// make_parallel add around a model.
//
// Nothing in a file is executed. A Lambda layer is never decoded: it is removed if it only
// splits the batch among replicas, and rejected otherwise.
package keras

// Limits on the contents of a file.
const (
	maxConfig   = 4 << 20 // bytes of a model's description; a layer needs one or two thousand
	maxTokens   = 1 << 18 // names, values and brackets of a description
	maxNesting  = 8       // models inside models
	maxBrackets = 256     // lists and objects inside one another, in a description
	maxLayers   = 1 << 14 // layers of one model
	maxCalls    = 1 << 16 // calls of layers; a call in a nested model counts for each call of that model
	maxShared   = 8       // weights that are read, in units of the file's size: shared layers read them again
	spareMemory = 64 << 20
)
