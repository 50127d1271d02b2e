package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bnctl/bnctl/device/collective"
)

// calls is the number of calls of Run and Commit in this process.
var calls int

// leaked is the memory that the fault "leak" never frees.
var leaked [][]byte

// ill causes those faults that change how a call ends, or whether it ends, but not its results.
func ill(ctx context.Context) {
	switch calls++; {
	case fault == "hang", fault == "stall" && calls%7 == 0:
		<-ctx.Done()
		time.Sleep(time.Hour) // the call does not end when ctx ends
	case fault == "late" && calls%7 == 0:
		time.Sleep(40 * time.Second)
	case fault == "slow":
		time.Sleep(20 * time.Millisecond)
	case fault == "panic" && calls%7 == 0:
		panic("the seventh call")
	case fault == "prints":
		fmt.Println("call", calls)
	case fault == "leak":
		b := make([]byte, 50<<20)
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = 1
		}
		leaked = append(leaked, b)
	}
}

// misplace changes the tag of an exchange, so that it belongs to another place in the program.
func misplace(tag *collective.Tag) {
	switch {
	case fault == "sequence" && tag.Sequence == 1:
		tag.Sequence = 2
	case fault == "lane" && tag.Lane == collective.Gradients:
		tag.Lane = collective.Moments
	}
}
