//go:build unix

package regular

import "os"

// syncFolder forces a folder to the disk, so that a new name in it lasts.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
