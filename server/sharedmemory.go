package server

import (
	"os"
	"sync"
	"sync/atomic"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// A client on the same machine can write the elements of its requests into shared memory, instead of sending
// them through the socket of a stream of rows. Sockets copy the elements twice, in pieces that wake the other
// side again and again. The client creates the memory as a file without a name, which disappears with both
// processes, and passes its descriptor with the first request that uses it.
//
// Only streams on sockets in the file system accept memory: these have mode 0600, so that the client has the
// same user. The server maps the memory only if it cannot become shorter. Otherwise the server could fault.
// The client may change elements at any time, and gets the answer for the elements that the device reads.

// sharedMemoryHeader is the header of the response that begins a stream, if the server accepts shared memory.
const sharedMemoryHeader = "Bnctl-Shared-Memory"

// sharedMemory is mapped memory of a client. It is unmapped after its last user has released it.
type sharedMemory struct {
	bytes []byte
	users atomic.Int64
}

// mapShared maps the memory in a file, which it closes. The caller is its first user.
func mapShared(f *os.File, most int64) (*sharedMemory, error) {
	b, err := mapSealed(f, most)
	f.Close()
	if err != nil {
		return nil, protocol.Refuse(protocol.Unimplemented, "the shared memory is not accepted: %v; send the "+
			"elements of tensors", err)
	}
	m := &sharedMemory{bytes: b}
	m.users.Store(1)
	return m, nil
}

// hold adds a user. It is called by a user, and release must be called once.
func (m *sharedMemory) hold() (release func()) {
	m.users.Add(1)
	return sync.OnceFunc(m.release)
}

func (m *sharedMemory) release() {
	if m != nil && m.users.Add(-1) == 0 {
		unmap(m.bytes)
	}
}
