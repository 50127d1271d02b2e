package serialize

// Limits of the sizes in a file. Real models stay far below them.
const (
	maxHeader = 32 << 20 // bytes
	maxList   = 1 << 17  // tensors, labels, and every other list
	maxValues = 1 << 22  // numbers, strings, lists and maps in the header
	maxDepth  = 16       // maximum depth of nested values in the header
)

// Version is the newest version of the container. Templates with several inputs or with thresholds
// have it; all other files have the first.
const (
	Version = 2
	first   = 1
)

// A file begins with its magic, the version and the header's length (both
// u32, little endian), and the SHA-256 of these 16 bytes and the header.
const (
	magicPrefix = 4 // first bytes of the magic, which no transfer changes
	magicSize   = 8
	sumSize     = 32
	prefixSize  = magicSize + 4 + 4
	startSize   = prefixSize + sumSize // start of the header
	alignment   = 64                   // alignment of every tensor from the start of the file
)

// Kind distinguishes templates from checkpoints.
type Kind string

// The kinds.
const (
	Template Kind = "template"   // .bnm, a models.Model
	Training Kind = "checkpoint" // .bnc, a Checkpoint
)

// The magics are built like PNG's: a byte above 127, a name, and line ends that a transfer
// as text would change.
var magics = map[Kind]string{
	Template: "\x89BNM\r\n\x1a\n",
	Training: "\x89BNC\r\n\x1a\n",
}

// align rounds n up to a multiple of the alignment.
func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }
