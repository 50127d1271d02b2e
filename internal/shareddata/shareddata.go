// Package shareddata finds test data that is too large for the repository: data sets,
// and checkpoints of other programs. The folder is the value of the variable BNCTL_DATA,
// or ../shared/data from the root of the checkout.
//
// Use File in a test that needs these data: without them the test is skipped.
package shareddata

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Variable names the folder of the data.
const Variable = "BNCTL_DATA"

// Folder returns the absolute path of the folder, and whether it is there.
func Folder() (path string, ok bool) {
	path = os.Getenv(Variable)
	if path == "" {
		path = filepath.Join(root(), "..", "shared", "data")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return path, false
	}
	info, err := os.Stat(path)
	return path, err == nil && info.IsDir()
}

// File returns the path of a file or folder of the data; "" is the whole folder. The
// test is skipped if it is not there.
func File(t testing.TB, name string) string {
	t.Helper()
	folder, _ := Folder()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s, which is not part of the repository: %s names its folder", path, Variable)
	}
	return path
}

// root returns the root of the module of the running test.
func root() string {
	folder, err := os.Getwd()
	for err == nil {
		text, _ := os.ReadFile(filepath.Join(folder, "go.mod"))
		if strings.HasPrefix(string(text), "module github.com/bnctl/bnctl\n") || folder == filepath.Dir(folder) {
			break
		}
		folder = filepath.Dir(folder)
	}
	return folder
}
