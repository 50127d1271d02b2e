package foreign

import "io"

// ReadAt fills dst from offset off of src. It returns io.ErrUnexpectedEOF if src ends
// before dst is full.
func ReadAt(src io.ReaderAt, dst []byte, off int64) error {
	n, err := src.ReadAt(dst, off)
	if n == len(dst) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
