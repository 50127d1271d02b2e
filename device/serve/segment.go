package serve

import (
	"fmt"
	"os"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
)

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
