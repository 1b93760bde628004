package parsers

// Dumps made of java.lang.management.ThreadInfo: printed by applications
// themselves, by test frameworks, by Arthas, and by Dubbo into
// Dubbo_JStack.log.<date> since 2.5.6 when a provider's pool refuses work:
//
//	"DubboServerHandler-10.20.0.11:20880-thread-118" Id=413 WAITING on java.util.concurrent.FutureTask@5b2a71d0
//		at sun.misc.Unsafe.park(Native Method)
//		-  waiting on java.util.concurrent.FutureTask@5b2a71d0
//		...
//
//		Number of locked synchronizers = 1
//		- java.util.concurrent.ThreadPoolExecutor$Worker@1c4a6e22
//
// There is no first line of the dump, and no end. ThreadInfo.toString prints
// eight frames, Dubbo 32. The machine is javaDump.

const dubboFrames = 32

func threadInfoFormat() Format {
	return Format{
		Name:     "threadinfo",
		Doc:      "Java threads printed by the application itself: ThreadInfo, Dubbo_JStack.log, Arthas thread",
		Versions: "JDK 5 to 25, Dubbo 2.5.6 to 3.3, Arthas 3; made with JDK 17.0.15 and 25.0.3",
		Signs:    []string{`a line "name" Id=N STATE`, "a file Dubbo_JStack.log.<date>"},
		Marks: []string{
			" RUNNABLE", " BLOCKED", " WAITING", " TIMED_WAITING", " TERMINATED", "[Internal] cpu",
		},
		Starts: func(line []byte) bool { return javaStart(line).family == familyThreadInfo },
		Block:  func(in *Input, emit Emit) error { return javaBlock(in, emit, familyThreadInfo) },
	}
}
