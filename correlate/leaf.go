package correlate

import (
	"strings"

	"github.com/firebreak-io/firebreak/evidence"
)

// leaf is what the innermost frames of a Java thread do. Leaves are bits, so
// that a rule can name several.
type leaf uint16

const (
	leafJava     leaf = 1 << iota // runs Java code
	leafSocket                    // waits for bytes of a peer, or to connect
	leafDNS                       // resolves a name
	leafSelector                  // selector or acceptor
	leafFile                      // file, pipe or stdin
	leafProcess                   // waits for a child process
	leafPark                      // parked, Object.wait
	leafSleep                     // sleeps
	leafBlocked                   // wants a monitor, or waits for a class to be initialised
	leafNative                    // native code that is not the JDK's
)

// jvmLeaves map the JDK's innermost frames to what they do; the first that
// matches, from the top, decides.
var jvmLeaves = newPrefixes([]leafRule{
	{leafSelector, `sun.nio.ch.EPollArrayWrapper.epollWait sun.nio.ch.EPoll.wait sun.nio.ch.KQueue.poll sun.nio.ch.KQueueArrayWrapper.kevent
		sun.nio.ch.WindowsSelectorImpl sun.nio.ch.WEPoll.wait sun.nio.ch.PollArrayWrapper.poll sun.nio.ch.DevPoll sun.nio.ch.EventPort sun.nio.ch.Pollset
		sun.nio.ch.Iocp. sun.nio.ch.EPollSelectorImpl. sun.nio.ch.SelectorImpl. sun.nio.ch.KQueueSelectorImpl. sun.nio.ch.PollSelectorImpl. sun.nio.ch.EPollPort sun.nio.ch.KQueuePort
		sun.nio.ch.Net.accept sun.nio.ch.ServerSocketChannelImpl. sun.nio.ch.UnixDomainSockets.accept sun.nio.ch.EPollPoller sun.nio.ch.KQueuePoller
		java.net.ServerSocket. java.net.PlainSocketImpl.socketAccept java.net.DualStackPlainSocketImpl.accept java.net.TwoStacksPlainSocketImpl.socketAccept
		java.net.AbstractPlainSocketImpl.accept sun.nio.ch.NioSocketImpl.accept sun.nio.ch.NioSocketImpl.timedAccept sun.nio.fs.LinuxWatchService sun.nio.fs.AbstractWatchService
		sun.tools.attach. java.lang.ref.Reference.waitForReferencePendingList
		sun.management.ThreadImpl. java.lang.Thread.dumpThreads java.lang.Thread.getAllStackTraces jdk.internal.vm.ThreadSnapshot com.sun.management.internal.`},
	{leafSocket, `java.net.SocketInputStream. java.net.SocketOutputStream. sun.nio.ch.SocketDispatcher. sun.nio.ch.Net.poll sun.nio.ch.Net.connect sun.nio.ch.NioSocketImpl.
		sun.nio.ch.SocketChannelImpl. sun.nio.ch.SocketAdaptor sun.nio.ch.UnixDomainSockets. sun.nio.ch.UnixDomainSocketsUtil java.net.PlainSocketImpl. java.net.AbstractPlainSocketImpl.
		java.net.DualStackPlainSocketImpl. java.net.TwoStacksPlainSocketImpl. java.net.Socket$Socket sun.nio.ch.DatagramChannelImpl. java.net.PlainDatagramSocketImpl. java.net.DatagramSocket.`},
	{leafFile, `java.io.FileInputStream. java.io.FileOutputStream. java.io.RandomAccessFile. sun.nio.ch.FileChannelImpl. sun.nio.ch.UnixFileDispatcherImpl.
		sun.nio.ch.FileDispatcherImpl.pread sun.nio.ch.FileDispatcherImpl.pwrite sun.nio.ch.FileDispatcherImpl.force sun.nio.ch.FileDispatcherImpl.truncate sun.nio.ch.FileDispatcherImpl.seek
		sun.nio.fs.UnixNativeDispatcher. sun.nio.fs.WindowsNativeDispatcher. java.io.UnixFileSystem. java.io.WinNTFileSystem. java.io.FileDescriptor.sync
		java.nio.MappedByteBuffer.force java.util.zip.ZipFile.open java.util.zip.ZipFile.read`},
	{leafDNS, `java.net.InetAddress java.net.Inet4AddressImpl java.net.Inet6AddressImpl`},
	{leafSleep, `java.lang.Thread.sleep java.lang.VirtualThread.sleep`},
	{leafProcess, `java.lang.UNIXProcess. java.lang.ProcessImpl. java.lang.ProcessHandleImpl. java.lang.ProcessBuilder.`},
})

// leafRule is one line of the table of leaves.
type leafRule struct {
	leaf     leaf
	prefixes string
}

// parkFrames suspend a thread; what for, the frames below them tell.
var parkFrames = strings.Fields(`sun.misc.Unsafe.park jdk.internal.misc.Unsafe.park java.lang.Object.wait java.lang.VirtualThread.park java.lang.VirtualThread.yieldContinuation
	java.util.concurrent.locks.LockSupport.park jdk.internal.vm.Continuation.yield`)

// leafOf looks at the JDK's frames on top of the stack.
func leafOf(s *evidence.Stack) leaf {
	parked, file, native := false, false, false
walk:
	for i, f := range s.Frames {
		fn := f.Func
		if i > 14 || !isJDK(fn) {
			native = i == 0 && f.Native
			break
		}
		switch {
		case hasAny(fn, parkFrames):
			parked = true
			continue
		case strings.HasPrefix(fn, "sun.nio.ch.FileDispatcherImpl.read") || strings.HasPrefix(fn, "sun.nio.ch.FileDispatcherImpl.write"):
			file = true // of a file or, before 21, of a socket: the channel below tells
			continue
		}
		if l, ok := jvmLeaves.find(fn); ok {
			if l == leafSocket && i < 3 && acceptBelow(s.Frames[i:]) {
				return leafSelector
			}
			if parked || s.State == evidence.StateBlocked {
				if l == leafSelector || l == leafSleep || l == leafDNS || l == leafProcess || l == leafSocket && s.State != evidence.StateBlocked && s.Virtual {
					return l
				}
				break walk // a lock around a file or a socket
			}
			return l
		}
	}
	switch {
	case s.State == evidence.StateBlocked:
		return leafBlocked
	case parked:
		return leafPark
	case file:
		return leafSocket
	}
	switch s.State {
	case evidence.StateWaiting, evidence.StateTimedWaiting:
		if strings.Contains(s.Detail, "sleeping") {
			return leafSleep
		}
		return leafPark
	}
	if native {
		return leafNative
	}
	return leafJava
}

// acceptBelow reports whether a wait for a socket is that of an acceptor.
func acceptBelow(frames []*evidence.Frame) bool {
	for i, f := range frames {
		if i > 8 || !isJDK(f.Func) {
			return false
		}
		if l, ok := jvmLeaves.find(f.Func); ok && l == leafSelector {
			return true
		}
	}
	return false
}

func isJDK(fn string) bool {
	return strings.HasPrefix(fn, "java.") || strings.HasPrefix(fn, "javax.") || strings.HasPrefix(fn, "jdk.") || strings.HasPrefix(fn, "sun.") || strings.HasPrefix(fn, "com.sun.")
}
