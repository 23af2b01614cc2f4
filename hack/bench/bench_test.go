package main

import (
	"testing"
)

// BenchmarkFlush captures and flushes on a client in memory.
func BenchmarkFlush(b *testing.B) { eachCase(b, overMemory) }

// BenchmarkRequest captures and flushes through a real client, down to the bytes on the wire.
func BenchmarkRequest(b *testing.B) { eachCase(b, overWire) }

func eachCase(b *testing.B, over func(*testing.B, size, change, contestant)) {
	for _, s := range sizes {
		for _, ch := range changes {
			for _, c := range contestants {
				b.Run("size="+s.name+"/change="+ch.name+"/by="+c.name, func(b *testing.B) { over(b, s, ch, c) })
			}
		}
	}
}
