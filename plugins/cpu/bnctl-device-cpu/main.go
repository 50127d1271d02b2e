// Command bnctl-device-cpu is the CPU device as a separate plugin.
package main

import "github.com/bnctl/bnctl/plugins/cpu"

func main() { cpu.Main() }
