package arena

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bnctl/bnctl/tensor"
)

// hugePage is the size of a large page.
const hugePage = 2 << 20

// askForHugePages asks the system to back the large pages in b with large pages of memory. The arena is
// read and written from end to end, and with small pages the processor spends its time on address
// translation. The request is optional: without large pages the program runs more slowly.
func askForHugePages(b []byte) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-at & (hugePage - 1))
	if n := (len(b) - skip) / hugePage * hugePage; n > 0 {
		_ = unix.Madvise(b[skip:skip+n], unix.MADV_HUGEPAGE)
	}
}

// AlignmentBytes is the maximum number of bytes that newArena adds to an arena.
const AlignmentBytes = 2 * hugePage

// newArena returns n zeros that consist of whole large pages. If the memory began at an arbitrary address,
// some of it would be in small pages. Then the time of every run would be a matter of luck (for resnet20 at
// batch 32, zero to two of three pages would be large).
func newArena(n int) []byte {
	if n < hugePage {
		return tensor.New(tensor.U8, n).Bytes
	}
	whole := (n + hugePage - 1) / hugePage * hugePage
	b := tensor.New(tensor.U8, whole+hugePage).Bytes
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1))
	b = b[skip : skip+whole]
	askForHugePages(b)
	return b[:n:n]
}

// newPages returns n zeros outside Go's heap. Pages use memory only once they are touched, and are large if
// the system supports that.
func newPages(n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(fmt.Sprintf("cpu: %d bytes for packed weights: %v", n, err)) // as when a heap cannot grow
	}
	askForHugePages(b)
	return b
}

// freePages releases pages returned by newPages.
func freePages(b []byte) { _ = unix.Munmap(b) }
