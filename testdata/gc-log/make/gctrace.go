// Command gctrace makes garbage; run it with GODEBUG=gctrace=1.
package main

import "runtime"

var sink []byte

func main() {
	var kept [][]byte
	for i := range 4000 {
		sink = make([]byte, 64<<10)
		if i%4 == 0 {
			kept = append(kept, sink)
		}
		if i == 2000 {
			kept = nil
			runtime.GC()
		}
	}
}
