// Command plainsum FILE... prints two sums for each template. The first is the SHA-256 that the file would
// have without the numbers of its parts and without the digest of its chain. The second is the sum of its
// weights. The first templates of release 0.1 have neither numbers nor a chain. docs/results compares present
// sums with sums from that time.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
)

func main() {
	for _, path := range os.Args[1:] {
		file, weights, err := sums(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "plainsum:", err)
			os.Exit(1)
		}
		fmt.Println(file, weights, path)
	}
}

// sums returns the sum of the file without numbers and chain, and the sum of its weights.
func sums(path string) (file, weights string, err error) {
	m, err := serialize.ReadModel(path)
	if err != nil {
		return "", "", err
	}
	if m.Chain = ""; m.Recipe != nil {
		r, err := recipe.Parse(m.Recipe)
		if err != nil {
			return "", "", err
		}
		r.Classes, r.Numbers = nil, nil
		m.Recipe = r.JSON()
	}
	h := sha256.New()
	if err := serialize.EncodeModel(h, m); err != nil {
		return "", "", err
	}
	return hex.EncodeToString(h.Sum(nil)), m.WeightsSum(), nil
}
