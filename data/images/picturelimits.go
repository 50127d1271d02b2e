package images

// Limits on picture files. A picture that exceeds a limit is refused with the number and the limit,
// before memory is allocated for it.
const (
	maxPixels  = 1 << 26 // largest width times height of a picture
	FreePixels = 1 << 22 // number of pixels that is permitted even if the file has few bytes

	// maxPixelsPerByte is twice the largest number of pixels per byte in a PNG, for pixels of eight bits.
	maxPixelsPerByte = 2048
	// maxBlockVisits limits the number of blocks that all scans of a JPEG together decode. It is twice the
	// number for the largest picture with libjpeg's progressive script. Decoding them needs about five seconds.
	maxBlockVisits = 1 << 25
)
