package torch_test

import (
	"fmt"
	"log"

	"github.com/bnctl/bnctl/modelfile/formats/torch"
)

// What torch.save wrote, without running it. Options pick one of several state
// dicts. Callers that take files of any format use package modelfile.
func ExampleRead() {
	f, err := torch.Read("testdata/cases/gan.pth", torch.Options{Key: "netG"})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Format, f.Key, len(f.Tensors), f.Wrappers)
	// Output: pytorch zip netG 7 [netG]
}
