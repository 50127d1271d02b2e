package cu

import (
	"bytes"
	"fmt"

	"github.com/bnctl/bnctl/plugins/internal/library"
)

// NVML is the open management library. It describes all GPUs without creating a context, because
// listing GPUs must not touch them (nvml.h, NVML API reference).
type NVML struct {
	lib      *library.Library
	init     func() int32
	shutdown func() int32
	text     func(code int32) string
	driver   func(out *byte, length uint32) int32
	count    func(out *uint32) int32
	handle   func(index uint32, out *uintptr) int32
	name     func(device uintptr, out *byte, length uint32) int32
	uuid     func(device uintptr, out *byte, length uint32) int32
	memory   func(device uintptr, out *memory) int32

	// These functions are for GPUs that are split into parts (MIG). Drivers before 450 lack them.
	mode      func(device uintptr, now, next *uint32) int32
	migCount  func(device uintptr, out *uint32) int32
	migDevice func(device uintptr, index uint32, out *uintptr) int32
}

// memory is nvmlMemory_t.
type memory struct{ Total, Free, Used uint64 }

// GPU describes a GPU. No context is created on the GPU for that.
type GPU struct {
	Index  int    // position in the order of PCI addresses
	UUID   string // "GPU-4f1c..."
	Name   string
	Total  int64 // bytes
	Free   int64 // bytes
	Driver string
}

// nvmlNames are the places where the library may be: the loader's path, WSL, containers.
var nvmlNames = []string{"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
	"/usr/local/nvidia/lib64/libnvidia-ml.so.1"}

// OpenNVML opens the library at the given paths, or in the usual places.
func OpenNVML(paths ...string) (*NVML, error) {
	if len(paths) == 0 {
		paths = nvmlNames
	}
	lib, err := library.Open(paths...)
	if err != nil {
		return nil, err
	}
	n := &NVML{lib: lib}
	if err := n.bind(); err != nil {
		lib.Close()
		return nil, err
	}
	if err := n.check("nvmlInit_v2", n.init()); err != nil {
		lib.Close()
		return nil, err
	}
	return n, nil
}

func (n *NVML) bind() error {
	for _, f := range []struct {
		fn   any
		name string
	}{
		{&n.init, "nvmlInit_v2"}, {&n.shutdown, "nvmlShutdown"}, {&n.text, "nvmlErrorString"},
		{&n.driver, "nvmlSystemGetDriverVersion"}, {&n.count, "nvmlDeviceGetCount_v2"},
		{&n.handle, "nvmlDeviceGetHandleByIndex_v2"}, {&n.name, "nvmlDeviceGetName"},
		{&n.uuid, "nvmlDeviceGetUUID"}, {&n.memory, "nvmlDeviceGetMemoryInfo"},
	} {
		if err := n.lib.Bind(f.fn, f.name); err != nil {
			return err
		}
	}
	for name, fn := range map[string]any{"nvmlDeviceGetMigMode": &n.mode,
		"nvmlDeviceGetMaxMigDeviceCount": &n.migCount, "nvmlDeviceGetMigDeviceHandleByIndex": &n.migDevice} {
		if n.lib.Bind(fn, name) != nil {
			n.mode = nil
			break
		}
	}
	return nil
}

// check converts an NVML code to an error; 0 is nil.
func (n *NVML) check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (%d)", call, n.text(code), code)
}

// Close closes the library.
func (n *NVML) Close() error {
	n.shutdown()
	return n.lib.Close()
}

// GPUs lists all GPUs of the machine. If a GPU is split (MIG), GPUs lists its parts instead: the whole
// GPU cannot compute then.
func (n *NVML) GPUs() ([]GPU, error) {
	driver, err := n.string("nvmlSystemGetDriverVersion", n.driver)
	if err != nil {
		return nil, err
	}
	var count uint32
	if err := n.check("nvmlDeviceGetCount_v2", n.count(&count)); err != nil {
		return nil, err
	}
	var all []GPU
	for i := range count {
		some, err := n.whole(i)
		if err != nil {
			return nil, fmt.Errorf("GPU %d: %w", i, err)
		}
		all = append(all, some...)
	}
	for i := range all {
		all[i].Driver = driver
	}
	return all, nil
}

// whole returns the GPU with this index, or its parts.
func (n *NVML) whole(index uint32) ([]GPU, error) {
	var d uintptr
	if err := n.check("nvmlDeviceGetHandleByIndex_v2", n.handle(index, &d)); err != nil {
		return nil, err
	}
	handles := []uintptr{d}
	var now, next, most uint32
	if n.mode != nil && n.mode(d, &now, &next) == 0 && now == 1 && n.migCount(d, &most) == 0 {
		handles = nil
		for i := range most {
			var p uintptr
			if n.migDevice(d, i, &p) == 0 { // an error means that part i does not exist
				handles = append(handles, p)
			}
		}
	}
	var all []GPU
	for _, h := range handles {
		g, err := n.gpu(int(index), h)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// gpu describes a GPU or a part of one.
func (n *NVML) gpu(index int, d uintptr) (GPU, error) {
	g := GPU{Index: index}
	of := func(f func(uintptr, *byte, uint32) int32) func(*byte, uint32) int32 {
		return func(out *byte, length uint32) int32 { return f(d, out, length) }
	}
	var err error
	if g.Name, err = n.string("nvmlDeviceGetName", of(n.name)); err != nil {
		return g, err
	}
	if g.UUID, err = n.string("nvmlDeviceGetUUID", of(n.uuid)); err != nil {
		return g, err
	}
	var m memory
	if err := n.check("nvmlDeviceGetMemoryInfo", n.memory(d, &m)); err != nil {
		return g, err
	}
	g.Total, g.Free = int64(m.Total), int64(m.Free)
	return g, nil
}

// string calls a function that fills a buffer with a text, and returns the text up to its zero byte.
func (n *NVML) string(call string, fill func(*byte, uint32) int32) (string, error) {
	var b [256]byte
	if err := n.check(call, fill(&b[0], uint32(len(b)))); err != nil {
		return "", err
	}
	text, _, _ := bytes.Cut(b[:], []byte{0})
	return string(text), nil
}
