// Architecture draws docs/architecture.svg: the folders at the top of the tree, and which folder imports
// which. Folders are drawn above the folders that they need, and arrows that follow from other arrows are
// left out. The test fails when the picture is out of date. The command go run ./scripts/architecture draws
// it again.
package main

import (
	"fmt"
	"os"
)

// picture is the path of the file that is drawn.
const picture = "docs/architecture.svg"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "architecture:", err)
		os.Exit(1)
	}
}

func run() error {
	svg, err := drawn(".")
	if err != nil {
		return err
	}
	return os.WriteFile(picture, []byte(svg), 0o666)
}

// drawn returns the picture of the tree below root.
func drawn(root string) (string, error) {
	needs, err := imports(root)
	if err != nil {
		return "", err
	}
	for name := range needs {
		if captions[name] == "" {
			return "", fmt.Errorf("folder %s has no caption in scripts/architecture/captions.go", name)
		}
	}
	return svg(arranged(needs)), nil
}
