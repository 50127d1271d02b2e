package store

import "time"

func init() { firstPause = 10 * time.Millisecond } // tests let requests fail
