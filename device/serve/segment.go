package serve

import (
	"fmt"
	"os"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
)

// shared is memory that the host shares with this process, and the end of the pipe that wakes the host.
// Both are nil if they do not exist.
type shared struct {
	segment []byte
	bell    *os.File
}

// newShared maps the memory that the host offers.
func newShared(in *pb.Segment) (s shared, err error) {
	if s.segment, err = mapSegment(in); err == nil && in.GetBell() >= 3 {
		s.bell = os.NewFile(uintptr(in.GetBell()), "bell")
	}
	return s, err
}

// pipe returns this side of the rings.
func (s shared) pipe() (*shm.Conn, error) { return shm.Guest(s.segment, s.bell) }

// mapSegment maps the memory that the host shares with this process, and
// closes the file.
func mapSegment(in *pb.Segment) ([]byte, error) {
	if in.GetFile() < 3 {
		return nil, fmt.Errorf("shared memory: descriptor %d was not inherited", in.GetFile())
	}
	if in.GetBytes() != shm.Bytes {
		return nil, fmt.Errorf("shared memory: segment of %d bytes, this plugin knows %d", in.GetBytes(), shm.Bytes)
	}
	f := os.NewFile(uintptr(in.GetFile()), "segment")
	defer f.Close()
	return shm.Map(f, shm.Bytes)
}
