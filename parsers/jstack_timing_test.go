package parsers

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
)

// generatedDump makes a HotSpot dump of n threads: a quarter waits for a pool,
// a quarter reads a socket, half are idle.
func generatedDump(n int) []byte {
	var b bytes.Buffer
	b.WriteString("2026-03-14 10:02:07\nFull thread dump OpenJDK 64-Bit Server VM (17.0.15+6-LTS mixed mode, sharing):\n\n")
	fmt.Fprintf(&b, "Threads class SMR info:\n_java_thread_list=0x00007f0001, length=%d, elements={\n0x00007f0001\n}\n\n", n)
	for i := range n {
		state, status := "WAITING (parking)", "waiting on condition "
		leaf := []string{"jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)", "java.util.concurrent.locks.LockSupport.park(java.base@17.0.15/LockSupport.java:341)"}
		note := fmt.Sprintf("\t- parking to wait for  <0x%016x> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)\n", i/100)
		if i%4 == 1 {
			state, status, note = "RUNNABLE", "runnable ", ""
			leaf = []string{"sun.nio.ch.SocketDispatcher.read0(java.base@17.0.15/Native Method)", "sun.nio.ch.SocketDispatcher.read(java.base@17.0.15/SocketDispatcher.java:47)", "com.mysql.cj.protocol.ReadAheadInputStream.fill(ReadAheadInputStream.java:107)"}
		}
		fmt.Fprintf(&b, "\"http-nio-8080-exec-%d\" #%d daemon prio=5 os_prio=0 cpu=%d.12ms elapsed=4321.02s tid=0x%016x nid=0x%x %s [0x%016x]\n", i, i+30, i, i*4096, i+500, status, i*8192)
		fmt.Fprintf(&b, "   java.lang.Thread.State: %s\n", state)
		for j, f := range leaf {
			b.WriteString("\tat " + f + "\n")
			if j == 0 {
				b.WriteString(note)
			}
		}
		for j := range 16 {
			fmt.Fprintf(&b, "\tat com.acme.shop.orders.pricing.PricingService%d.calculate(PricingService%d.java:%d)\n", j, j, 100*j+i%7)
		}
		b.WriteString("\tat java.lang.Thread.run(java.base@17.0.15/Thread.java:840)\n\n")
	}
	b.WriteString("\"VM Thread\" os_prio=0 cpu=5.68ms elapsed=1.66s tid=0x00007f2a0c090a50 nid=0x3a runnable  \n\nJNI global refs: 17, weak refs: 0\n\n")
	return b.Bytes()
}

func BenchmarkJstack(b *testing.B) {
	data := generatedDump(20_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		in := NewInput("bench", bytes.NewReader(data))
		threads := 0
		if err := Read(in, func(r *evidence.Record) error {
			if r.Stack != nil {
				threads++
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		if threads != 20_001 {
			b.Fatal(threads)
		}
	}
}
