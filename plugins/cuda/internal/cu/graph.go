package cu

import (
	"fmt"
	"unsafe"
)

// graphs are the functions for CUDA graphs. Drivers before CUDA 10 do not have them.
type graphs struct {
	create      func(out *uintptr, flags uint32) int32
	addKernel   func(out *uintptr, graph uintptr, after *uintptr, n uint64, kernel *kernelNode) int32
	instantiate func(out *uintptr, graph uintptr, flags uint64) int32
	destroy     func(graph uintptr) int32
	launch      func(executable, stream uintptr) int32
	destroyExec func(executable uintptr) int32
}

// kernelNode is CUDA_KERNEL_NODE_PARAMS_v2. Version 1 has the same fields without the last two.
type kernelNode struct {
	function                                       uintptr
	gridX, gridY, gridZ, blockX, blockY, blockZ, _ uint32 // the last one is dynamic shared memory
	args                                           *unsafe.Pointer
	_, _, _                                        uintptr // extra, kernel and context
}

// openGraphs binds the functions for graphs, or returns nil if the library lacks one of them.
func (c *CUDA) openGraphs() *graphs {
	g := &graphs{}
	for _, f := range []struct {
		fn    any
		names []string
	}{
		{&g.create, []string{"cuGraphCreate"}},
		{&g.addKernel, []string{"cuGraphAddKernelNode_v2", "cuGraphAddKernelNode"}},
		{&g.destroy, []string{"cuGraphDestroy"}},
		{&g.launch, []string{"cuGraphLaunch"}},
		{&g.destroyExec, []string{"cuGraphExecDestroy"}},
	} {
		if !c.bindFirst(f.fn, f.names...) {
			return nil
		}
	}
	if c.bindFirst(&g.instantiate, "cuGraphInstantiateWithFlags") {
		return g
	}
	var older func(out *uintptr, graph uintptr, node, log, size uintptr) int32 // before CUDA 11.4
	if !c.bindFirst(&older, "cuGraphInstantiate_v2", "cuGraphInstantiate") {
		return nil
	}
	g.instantiate = func(out *uintptr, graph uintptr, _ uint64) int32 { return older(out, graph, 0, 0, 0) }
	return g
}

// bindFirst binds fn to the first of the names that the library has.
func (c *CUDA) bindFirst(fn any, names ...string) bool {
	for _, name := range names {
		if c.lib.Bind(fn, name) == nil {
			return true
		}
	}
	return false
}

// KernelLaunch is a launch of groups[0] by groups[1] groups of Threads threads.
type KernelLaunch struct {
	Name    string
	Groups  [2]int
	Threads int
	Args    []uint64 // the bits of each argument
}

// HasGraphs reports whether the driver has CUDA graphs.
func (x *Context) HasGraphs() bool { return x.c.graphs != nil }

// Graph returns an executable graph of launches, each of which follows the one before. It launches nothing.
func (x *Context) Graph(launches []KernelLaunch) (executable uintptr, err error) {
	err = x.do(func() error {
		g := x.c.graphs
		var graph uintptr
		if err := x.c.check("cuGraphCreate", g.create(&graph, 0)); err != nil {
			return err
		}
		defer g.destroy(graph)
		var node uintptr
		for i := range launches {
			if err := x.addNode(graph, &node, i > 0, &launches[i]); err != nil {
				return fmt.Errorf("%s: %w", launches[i].Name, err)
			}
		}
		return x.c.check("cuGraphInstantiate", g.instantiate(&executable, graph, 0))
	})
	return executable, err
}

// addNode adds a launch to a graph, after the node *node if there is one, and sets *node to the new node.
// The driver copies the arguments.
func (x *Context) addNode(graph uintptr, node *uintptr, after bool, l *KernelLaunch) error {
	k, err := x.kernel(l.Name)
	if err != nil {
		return err
	}
	p := kernelNode{function: k, gridX: uint32(l.Groups[0]), gridY: uint32(l.Groups[1]), gridZ: 1,
		blockX: uint32(l.Threads), blockY: 1, blockZ: 1, args: x.pointers(l.Args)}
	before, n := *node, uint64(0)
	if after {
		n = 1
	}
	return x.c.check("cuGraphAddKernelNode", x.c.graphs.addKernel(node, graph, &before, n, &p))
}

// LaunchGraph launches an executable graph.
func (x *Context) LaunchGraph(executable uintptr) error {
	return x.do(func() error { return x.c.check("cuGraphLaunch", x.c.graphs.launch(executable, x.stream)) })
}

// FreeGraph destroys an executable graph when it does not run any more.
func (x *Context) FreeGraph(executable uintptr) error {
	return x.do(func() error {
		err := x.c.check("cuStreamSynchronize", x.c.wait(x.stream))
		if code := x.c.graphs.destroyExec(executable); err == nil {
			err = x.c.check("cuGraphExecDestroy", code)
		}
		return err
	})
}
