//go:build !unix

package main

func stuck() { panic("no signals") }
