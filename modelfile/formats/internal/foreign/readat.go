package foreign

import "io"

// ReadAt fills dst from offset off of src. A file that ends before is an
// io.ErrUnexpectedEOF.
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
