// Package cpu is the CPU device plugin. It is a library, so that bnctl can
// start its executable as the plugin process; bnctl-device-cpu is the same
// plugin as a separate executable.
//
// Use Provider for a CPU device in the process of a program; package fleet
// opens CPU devices as processes.
//
// # From a node to assembly
//
// This is the path of a 3x3 convolution in resnet18 (stride 1, 64 to 64
// channels, followed by batch norm and relu) from the graph to the instructions.
// In terms of oneDNN and XNNPACK: plan compiles a subgraph to primitives (nodes to
// actions) with the operators of convolution and operations, run links them and is
// the runtime (actions to results), kernel has the micro-kernels.
// Each line has a file, below plugins/cpu/internal unless it begins with device,
// and the name of the function in it.
//
// When a program is loaded:
//
//	cpu/runner.go                 load                  every function is compiled, train before commit
//	plan/compile.go               Compile               fusion, an action for each node, the linker
//	device/class/fold.go          Fold                  the batch norm becomes part of the convolution
//	fusion/fuse.go                Fuse                  the relu becomes its epilogue
//	cpu/table.go                  table                 which package builds which operation
//	convolution/build.go          choose                the node's layer, which selects the algorithm
//	device/class/choose.go        Choose                Winograd F(4x4, 3x3): a function of the shape
//	convolution/forward.go        buildConv             one case for each algorithm
//	convolution/winograd.go       buildWinograd         an action by rows: spans of rows of tiles
//	convolution/winograd_pack.go  newWinogradPack       memory for transformed weights, shared by all functions
//	run/linker.go                 Link                  the passes over the actions, in sequence
//	run/gather.go                 gather                actions by rows are gathered into groups
//	run/link.go                   link                  neighbours in a group become chains
//	run/place.go                  lay                   every value gets its place in the arena
//
// When it runs:
//
//	cpu/run.go                    Run                   a frame for the rows and inputs of the run
//	run/steps.go                  runGroups             group after group
//	run/group.go                  cut                   few rows are cut for all workers, many are distributed
//	workers/pool.go               Each                  the distribution
//	run/chain.go                  row                   a row passes the chain, some positions at a time
//	convolution/winograd_pack.go  fill                  weights are transformed again if they have changed
//	convolution/winograd_tiles.go do                    pad, inspect, transform, multiply, transform back
//	convolution/winograd_apart.go inspect               tiles with too wide a range of values use implicit GEMM
//	kernel/winograd.go            WinogradProduct       36 matrix products, between both transforms
//	kernel/winograd_generic.go    productGeneric        the same in plain Go
//	kernel/winograd_amd64.go      winogradAVX2          register blocks: 2 vectors by some tiles
//	kernel/winograd_amd64.s       winogradInputAVX2t6   the instructions, written by _asm
//	kernel/_asm/winogradinput.go  winogradInput         the program that writes them
//
// Other algorithms: gemm.go is implicit GEMM, slabs.go the same for weights too
// large to be read again for every row, direct.go the direct convolution for 16
// channels, depthwise.go the depthwise convolution, dot2.go products of pairs of
// bfloat16, matrix.go AMX matrix units, convgrad.go and winograd_gradient.go
// gradients for weights.
//
// # Words
//
//	action      a compiled node: it runs on all rows at once, is an exchange, or runs row by row
//	group       the actions between two barriers: a single one, or several that run row by row
//	chain       neighbouring actions of a group, through which a part of a row passes at a time
//	span        some neighbouring positions (pixels) of a row
//	lane        the memory of a row while it passes through a group
//	heavy       weights that are too large to be read again for every row
//	slab        some positions of any rows, multiplied together with heavy weights
//	panel       some output channels whose weights are packed together
//	tile        a Winograd tile; in kernel also the register block of a micro-kernel
//	unit        one element of a value's kind: a row, a replica, or the whole
//	half        a value that is stored as bfloat16, two bytes per element
package cpu
