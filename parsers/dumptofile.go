package parsers

// Thread dumps with virtual threads, written by jcmd Thread.dump_to_file and by
// HotSpotDiagnosticMXBean.dumpThreads since JDK 21. As text (the machine is
// javaDump), 21 to 24 and 25:
//
//	#22 "order-vt-0" virtual
//	      java.base/java.lang.VirtualThread.park(VirtualThread.java:596)
//
//	#28 "order-vt-3" virtual WAITING 2026-11-30T05:17:05.137350878Z
//	    at java.base/java.lang.VirtualThread.park(VirtualThread.java:742)
//	    - parking to wait for <java.util.concurrent.locks.ReentrantLock$NonfairSync@1531bcc6>

func dumpToFileFormat() Format {
	return Format{
		Name:     "dump-to-file",
		Doc:      "Java thread dump with virtual threads: jcmd Thread.dump_to_file",
		Versions: "JDK 21 to 25 and format version 2; made with 25.0.3",
		Signs:    []string{`a line #N "name" virtual`},
		Marks:    []string{`#1 "main"`, `#3 "main"`, `"Reference Handler"`, `" virtual`},
		Starts:   func(line []byte) bool { return javaStart(line).family == familyToFile },
		Block:    func(in *Input, emit Emit) error { return javaBlock(in, emit, familyToFile) },
	}
}
