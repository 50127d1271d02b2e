package images

// Limits on picture files. A picture that exceeds a limit is refused with the number and the limit,
// before memory is allocated for it.
const (
	maxPixels  = 1 << 26 // one picture, width times height
	FreePixels = 1 << 22 // pixels that are allowed even if the file has few bytes

	// maxPixelsPerByte is twice the densest packing in PNG, for pixels of eight bits.
	maxPixelsPerByte = 2048
	// maxBlockVisits limits the number of blocks that the scans of a JPEG decode, counted once per scan.
	// It is twice the number in libjpeg's progressive script for the largest picture. They need some five
	// seconds.
	maxBlockVisits = 1 << 25
)
