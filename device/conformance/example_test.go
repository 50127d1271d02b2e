package conformance_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
)

// Test a plugin before you use it, as bnctl plugin test does.
func ExamplePlugin() {
	plugin := remote.Command{Name: "mine", Path: "/opt/mine/bnctl-device-mine"}
	faults, err := conformance.Plugin(context.Background(), plugin, conformance.Options{},
		func(level string, r devicetest.Result) {
			if r.Err != nil {
				fmt.Println(level, r.Case.Name, r.Err)
			}
		},
		func(j conformance.Judgement) { fmt.Println(j.Level, j.Cases, "cases, lacks", j.Lacks) })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(faults, "faults")
}
