package chain_test

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/serialize/chain"
)

// Each link contains the digest of the one before, so that the digest of the last one
// covers the whole training.
func Example() {
	c := &chain.Chain{Start: strings.Repeat("0", 64)}
	c = c.Add(chain.Link{Epoch: 1, Step: 47, State: strings.Repeat("1", 64)})
	c = c.Add(chain.Link{Epoch: 2, Step: 94, State: strings.Repeat("2", 64)})
	read, err := chain.Parse(c.Bytes())
	fmt.Println(len(read.Links), read.Digest() == c.Digest(), err)
	// Output: 2 true <nil>
}
