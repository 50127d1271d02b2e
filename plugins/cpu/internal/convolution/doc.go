// Package convolution builds the actions of products with a weight: convolutions,
// transposed ones, dense products, and the gradients of all of them.
//
// # Which algorithm
//
// choose (build.go) calls device/class, which decides by the shape of the layer and the
// kernel class alone: two machines of one class add in the same order. forward.go,
// backward.go and convgrad.go have one case for each algorithm, and each algorithm
// has a file that describes the loops over rows, workers and blocks; the inner loops are
// in package kernel.
//
//	algorithm      file                   for
//	GEMM           gemm.go, slabs.go      everything else: implicit GEMM over windows
//	Direct         direct.go              kernels 3 wide, 16 output channels
//	Depthwise      depthwise.go           one channel to a group
//	Winograd       winograd*.go           kernels 3x3 and 5x5 of stride 1
//	Dot2           dot2*.go               precision bf16: pairs of bfloat16
//	Matrix         matrix.go              class amx: matrix units
//	dense          dense.go, densegrad.go rows of a batch are the positions of a window
//	int8           int8.go                products of bytes: exact, so no choice is needed
//
// # Layout of images
//
// An image is [H][W][C], channels last (nhwc of oneDNN): the C values of a pixel
// are contiguous, so that a tap of a window reads one run of memory.
//
//	        x=0      x=1      x=2
//	y=0   |c0..cC-1|c0..cC-1|c0..cC-1|
//	y=1   |c0..cC-1|c0..cC-1|c0..cC-1|
//
// # Windows
//
// A kernel.Window holds the start of each run, for every tap t and position p, as an
// offset from the image; -1 is padding, which reads zeros. So stride, dilation,
// padding and groups are tables, and one inner loop serves all of them:
//
//	for p in positions:  out[p][:] = bias + sum over t, k of image[In[t][p] + k] * weight[t][k][:]
//
//	     kernel 3x3 at p            In[0][p]  In[1][p]  In[2][p]
//	   . . . . . . .                +------+  +------+  +------+
//	   . [0 1 2] . .                | C    |  | C    |  | C    |   runs of C values
//	   . [3 4 5] . .                +------+  +------+  +------+
//	   . [6 7 8] . .                   ...
//
// The gradient for the input is a product of windows, too: backward (geometry.go)
// returns one for each phase. A phase is the pixels with the same remainder modulo
// the stride, which have the same taps.
//
// # Layout of weights
//
// A weight is [O][C/groups][kh][kw] as in PyTorch. Kernels need the output
// channels of one product to be contiguous: fill (pack.go) copies it into panels of
// 64 output channels. The last panel may have fewer, in whole lanes of 16.
//
//	panel 0                         panel 1
//	t=0  k=0   | o0  o1  ... o63 |   | o64 ... o79 |     one row for each value
//	     k=1   | o0  o1  ... o63 |   | o64 ... o79 |     of a run, read once for
//	     ...                                             each block of positions
//	t=1  k=0   | o0  o1  ... o63 |   | o64 ... o79 |
//
// Weights are packed once for every version (stamp), and shared by all nodes and
// functions that need the same order (shared). The factors of a folded batch norm
// are applied at the same time (filter.go).
//
// # Light and heavy weights
//
// Light weights, which stay in a core's cache, are read again for every row of the
// batch: the action is by rows, and neighbours share the row while it is in the
// cache. Heavy ones (Schedule.Weights) are read for many rows at a time: the action
// does all its work in one call.
//
//	light:  row 0: all weights    row 1: all weights    ...      run.ByRows
//	heavy:  panel 0: all rows     panel 1: all rows     ...      run.AtOnce (apply)
package convolution
