// Package cpu is the CPU plugin: a library, so that bnctl can start itself as
// the plugin process, and the main package bnctl-device-cpu beside it.
//
// Use Provider for a CPU device in the process of a program; package fleet
// opens CPU devices as processes.
//
// # From a node to assembly
//
// This is the way of one 3x3 convolution of resnet18 (stride 1, 64 to 64 channels,
// batch norm and relu behind it) from the graph to the instructions. Who knows
// oneDNN or XNNPACK: plan makes the primitives of a subgraph, convolution are the
// operators, run is the runtime, kernel holds the micro-kernels. Files are below
// plugins/cpu/internal unless they begin with device. Names are what to look for.
//
// When a program is loaded:
//
//	cpu/executable.go             load                  every function is compiled, train before commit
//	plan/compile.go               Compile               the passes over a function, one after the other
//	device/class/fold.go          Fold                  the batch norm becomes part of the convolution
//	fusion/fuse.go                Fuse                  the relu becomes its epilogue
//	cpu/table.go                  table                 which package builds which operation
//	convolution/build.go          choose                the node's layer, asked for its algorithm
//	device/class/choose.go        Choose                Winograd F(4x4, 3x3): a function of the shape
//	convolution/forward.go        buildConv             one case for each algorithm
//	convolution/winograd.go       buildWinograd         an action by rows: spans of rows of tiles
//	convolution/winograd_pack.go  newWinogradPack       room for transformed weights, shared by all functions
//	plan/schedule.go              gather                actions by rows are gathered into groups
//	plan/link.go                  link                  neighbours in a group become chains
//	plan/layout.go                lay                   every value gets its place in the arena
//
// When it runs:
//
//	cpu/run.go                    Run                   inputs are checked
//	run/steps.go                  runGroups             group after group
//	run/group.go                  cut                   few rows are cut for all workers, many dealt
//	workers/pool.go               Each                  the deal
//	run/chain.go                  row                   a row passes through it, some positions at a time
//	convolution/winograd_pack.go  fill                  weights are transformed anew if they have changed
//	convolution/winograd_tiles.go do                    pad, inspect, transform, multiply, transform back
//	convolution/winograd_apart.go inspect               tiles that are not even go by implicit GEMM
//	kernel/winograd.go            WinogradProduct       36 matrix products, between both transforms
//	kernel/winograd_generic.go    productGeneric        the same in plain Go
//	kernel/winograd_amd64.go      winogradAVX2          register blocks: 2 vectors by some tiles
//	kernel/winograd_amd64.s       winogradInputAVX2f4   the instructions, written by _asm
//	kernel/_asm/winogradinput.go  winogradInput         the program that writes them
//
// Beside the way: gemm.go is implicit GEMM, slabs.go the same with heavy weights,
// direct.go the direct convolution for 16 channels, depthwise.go what its name says,
// dot2.go products of pairs of bfloat16, matrix.go matrix units, convgrad.go and
// winograd_gradient.go gradients for weights.
//
// # Words
//
//	action      what a node was compiled to: at once, an exchange, or by rows
//	group       what runs between two barriers: one action, or several over rows
//	chain       neighbouring actions of a group that a part of a row passes through
//	span        some neighbouring positions (pixels) of a row
//	lane        the memory that a row has while it passes through a group
//	slab        some positions of any rows, which meet all heavy weights together
//	panel       the output channels whose weights lie together
//	tile        a Winograd tile; in kernel also the register block of a micro-kernel
//	unit        what a kind of value has one of: a row, a replica, the whole
//	half        a value whose elements take two bytes
package cpu
