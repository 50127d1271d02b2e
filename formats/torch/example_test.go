package torch_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/formats/torch"
)

// This example reads a file of torch.save without executing it. Options select one of
// several state dicts. Callers that accept files of any format use package modelfile.
func ExampleRead() {
	f, err := torch.Read("testdata/cases/gan.pth", torch.Options{Key: "netG"})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Format, f.Key, len(f.Tensors), f.Wrappers)
	// Output: pytorch zip netG 7 [netG]
}
