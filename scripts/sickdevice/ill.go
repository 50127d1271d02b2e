package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bnctl/bnctl/device/collective"
)

// calls counts the runs and commits of this process.
var calls int

// leaked is the memory that the fault "leak" never frees.
var leaked [][]byte

// ill causes the faults that change how a call ends, not its results.
func ill(ctx context.Context) {
	switch calls++; {
	case fault == "hang", fault == "stall" && calls%7 == 0:
		<-ctx.Done()
		time.Sleep(time.Hour) // it does not end with ctx
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

// misplace gives an exchange a wrong place.
func misplace(tag *collective.Tag) {
	switch {
	case fault == "sequence" && tag.Sequence == 1:
		tag.Sequence = 2
	case fault == "lane" && tag.Lane == collective.Gradients:
		tag.Lane = collective.Moments
	}
}
