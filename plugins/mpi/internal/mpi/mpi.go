package mpi

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/bnctl/bnctl/plugins/internal/library"
	"github.com/bnctl/bnctl/problem"
)

// MPI is an open library. This process is one of its ranks.
type MPI struct {
	abi
	library *library.Library
	calls   map[string]uintptr
	results *results
	Rank    int
	Size    int
	About   string // name and version, for example "Open MPI v4.1.4"
}

// results is memory into which the library writes results. It is on the heap, because goroutine stacks may
// move.
type results struct {
	a, b   int32
	status status
	text   [8192]byte // larger than MPI_MAX_LIBRARY_VERSION_STRING and MPI_MAX_ERROR_STRING
}

// Transfer is a transfer in progress.
type Transfer struct {
	handle  uintptr // handle of Open MPI; MPICH uses the first 4 bytes
	content []byte  // memory that the library reads or writes
}

// threadFunneled is MPI_THREAD_FUNNELED in all known libraries.
const threadFunneled = 1

var functions = []string{"MPI_Init_thread", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_set_errhandler",
	"MPI_Get_library_version", "MPI_Isend", "MPI_Irecv", "MPI_Iprobe", "MPI_Get_count", "MPI_Test", "MPI_Abort",
	"MPI_Finalize", "MPI_Error_string"}

// Open opens the first of the libraries that exists, and makes this process a rank. It returns when all
// ranks have joined.
func Open(names []string) (*MPI, error) {
	l, err := library.OpenGlobal(names...)
	if err != nil {
		return nil, problem.Advise("install the launcher's MPI on every machine, or name its library: "+
			"{fabric} mpi:PATH", "%w", err)
	}
	m := &MPI{library: l, calls: map[string]uintptr{}, results: &results{}}
	for _, f := range functions {
		if m.calls[f], err = l.Symbol(f); err != nil {
			return nil, err
		}
	}
	if m.abi, err = abiOf(l); err != nil {
		return nil, err
	}
	return m, m.begin()
}

func (m *MPI) begin() error {
	r := m.results
	if err := m.call("MPI_Init_thread", 0, 0, threadFunneled, address(&r.a)); err != nil {
		return err
	}
	if r.a < threadFunneled {
		return fmt.Errorf("%s does not let one of several threads call it", m.library.Name())
	}
	err := errors.Join(m.call("MPI_Comm_set_errhandler", m.world, m.errorsReturn),
		m.call("MPI_Comm_rank", m.world, address(&r.a)), m.call("MPI_Comm_size", m.world, address(&r.b)))
	m.Rank, m.Size = int(r.a), int(r.b)
	if err == nil {
		err = m.call("MPI_Get_library_version", address(&r.text[0]), address(&r.a))
	}
	m.About = firstWords(string(r.text[:max(0, min(int(r.a), len(r.text)))]))
	return err
}

// firstWords returns the text before the first comma or end of a line.
func firstWords(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(strings.ReplaceAll(s, "\t", " ")), "\n")
	s, _, _ = strings.Cut(s, ",")
	return strings.Join(strings.Fields(s), " ")
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// call calls a function and returns its error with the library's text.
func (m *MPI) call(name string, arguments ...uintptr) error {
	code := int32(library.Call(m.calls[name], arguments...))
	if code == 0 {
		return nil
	}
	r := m.results
	if int32(library.Call(m.calls["MPI_Error_string"], uintptr(code), address(&r.text[0]), address(&r.a))) != 0 {
		return fmt.Errorf("%s: error %d", name, code)
	}
	return fmt.Errorf("%s: %s", name, r.text[:max(0, min(int(r.a), len(r.text)))])
}

// nothing is memory to point to for an empty message.
var nothing = new([8]byte)

func start(b []byte) uintptr {
	if len(b) == 0 {
		return address(nothing)
	}
	return address(&b[0])
}

// Isend begins to send a message.
func (m *MPI) Isend(rank, tag int, message []byte) (*Transfer, error) {
	q := &Transfer{content: message}
	return q, m.call("MPI_Isend", start(message), uintptr(len(message)), m.bytes, uintptr(rank), uintptr(tag),
		m.world, address(&q.handle))
}

// Irecv begins to receive the message that Iprobe has found.
func (m *MPI) Irecv(rank, tag int, buffer []byte) (*Transfer, error) {
	q := &Transfer{content: buffer}
	return q, m.call("MPI_Irecv", start(buffer), uintptr(len(buffer)), m.bytes, uintptr(rank), uintptr(tag),
		m.world,
		address(&q.handle))
}

// Test reports whether a transfer is done.
func (m *MPI) Test(q *Transfer) (bool, error) {
	r := m.results
	r.a = 0
	err := m.call("MPI_Test", address(&q.handle), address(&r.a), address(&r.status[0]))
	return r.a != 0, err
}

// Iprobe checks for the next message from any rank, and returns its length.
func (m *MPI) Iprobe() (found bool, rank, tag, length int, err error) {
	r := m.results
	r.a = 0
	err = m.call("MPI_Iprobe", uintptr(m.anySource), uintptr(m.anyTag), m.world, address(&r.a),
		address(&r.status[0]))
	if err != nil || r.a == 0 {
		return false, 0, 0, 0, err
	}
	err = m.call("MPI_Get_count", address(&r.status[0]), m.bytes, address(&r.b))
	return true, r.status.at(m.source), r.status.at(m.tag), int(r.b), err
}

// Abort ends all ranks. It usually ends this process too.
func (m *MPI) Abort() { _ = m.call("MPI_Abort", m.world, 1) }

// Finalize ends MPI. All ranks must call it.
func (m *MPI) Finalize() error { return m.call("MPI_Finalize") }
