import java.io.InputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A process with every kind of thread that the dump readers care about: workers
 * in socket reads, workers blocked behind a monitor and a lock, idle workers,
 * two deadlocks, a class initialiser that others wait for, names with quotes, and
 * virtual threads where the runtime has them. It prints "ready" and stays until
 * killed. With arguments it first writes dumps of itself:
 *
 *   java Sample.java threadinfo FILE   ThreadInfo.toString of every thread
 *   java Sample.java dubbo FILE        the block grammar of Dubbo_JStack.log
 *   java Sample.java actuator FILE     the JSON of Spring Boot's /actuator/threaddump
 */
public class Sample {
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start("acceptor", () -> {
            List<Socket> open = new ArrayList<>();
            while (true) open.add(server.accept());
        });

        ExecutorService workers = Executors.newFixedThreadPool(4, named("DubboServerHandler-10.20.3.14:20880-thread-"));
        for (int i = 0; i < 4; i++) {
            boolean timed = i % 2 == 1;
            workers.execute(() -> OrderRepository.findOpenOrders(server.getLocalPort(), timed));
        }
        ExecutorService idle = Executors.newFixedThreadPool(2, named("http-nio-8080-exec-"));
        for (int i = 0; i < 2; i++) idle.execute(() -> { });

        CountDownLatch held = new CountDownLatch(2);
        start("monitor-owner", () -> {
            synchronized (monitor) {
                held.countDown();
                Thread.sleep(Long.MAX_VALUE);
            }
        });
        start("lock-owner", () -> {
            lock.lock();
            held.countDown();
            Thread.sleep(Long.MAX_VALUE);
        });
        held.await();
        for (int i = 1; i <= 2; i++) {
            start("monitor-waiter-" + i, () -> {
                synchronized (monitor) { }
            });
            start("lock-waiter-" + i, lock::lock);
        }
        Object signal = new Object();
        start("object-waiter", () -> {
            synchronized (signal) {
                signal.wait();
            }
        });

        Object a = new Object();
        Object b = new Object();
        CountDownLatch both = new CountDownLatch(2);
        start("dl-1", () -> cross(a, b, both));
        start("dl-2", () -> cross(b, a, both));
        ReentrantLock c = new ReentrantLock();
        ReentrantLock d = new ReentrantLock();
        CountDownLatch both2 = new CountDownLatch(2);
        start("dlr-1", () -> cross(c, d, both2));
        start("dlr-2", () -> cross(d, c, both2));

        start("initialiser", () -> System.out.println(Slow.value));
        Entered.latch.await();
        start("class-waiter", () -> System.out.println(Slow.value));

        start("Activity Poller taskQueue=\"orders\", namespace=\"default\": 2", () -> Thread.sleep(Long.MAX_VALUE));
        start("", () -> Thread.sleep(Long.MAX_VALUE));
        start("two\nlines", () -> Thread.sleep(Long.MAX_VALUE));
        start("spinner", () -> {
            while (true) Price.calc();
        });
        virtualThreads(server.getLocalPort());

        Thread.sleep(800);
        if (args.length == 2) {
            try (PrintStream out = new PrintStream(args[1], "UTF-8")) {
                for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
                    if (args[0].equals("dubbo")) dubbo(info, out);
                    else if (args[0].equals("actuator")) actuator(info, out);
                    else out.print(info);
                }
                if (args[0].equals("actuator")) out.print("]}");
            }
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }

    interface Task {
        void run() throws Exception;
    }

    static void start(String name, Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    static ThreadFactory named(String prefix) {
        AtomicInteger next = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, prefix + next.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    static void cross(Object first, Object second, CountDownLatch both) throws Exception {
        synchronized (first) {
            both.countDown();
            both.await();
            synchronized (second) { }
        }
    }

    static void cross(ReentrantLock first, ReentrantLock second, CountDownLatch both) throws Exception {
        first.lock();
        both.countDown();
        both.await();
        second.lock();
    }

    /** Starts virtual threads by reflection, so that the file compiles with 17 too. */
    static void virtualThreads(int port) throws Exception {
        ExecutorService virtual;
        try {
            virtual = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException e) {
            return;
        }
        virtual.execute(() -> OrderRepository.findOpenOrders(port, false));
        virtual.execute(lock::lock);
        virtual.execute(() -> {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        virtual.execute(() -> {
            while (true) Price.calc();
        });
    }

    static class OrderRepository {
        static void findOpenOrders(int port, boolean timed) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                if (timed) socket.setSoTimeout(3_600_000);
                InputStream in = socket.getInputStream();
                in.read();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static class Price {
        static double sum;

        static void calc() {
            for (int i = 1; i < 1000; i++) sum += Math.sqrt(i);
        }
    }

    static class Slow {
        static final int value = slowly();

        static int slowly() {
            Entered.latch.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return 1;
        }
    }

    static class Entered {
        static final CountDownLatch latch = new CountDownLatch(1);
    }

    /** Prints one block of a Dubbo_JStack.log from the grammar of that file. */
    static void dubbo(ThreadInfo t, PrintStream out) {
        StringBuilder s = new StringBuilder("\"" + t.getThreadName() + "\" Id=" + t.getThreadId() + " " + t.getThreadState());
        if (t.getLockName() != null) s.append(" on ").append(t.getLockName());
        if (t.getLockOwnerName() != null) s.append(" owned by \"").append(t.getLockOwnerName()).append("\" Id=").append(t.getLockOwnerId());
        if (t.isSuspended()) s.append(" (suspended)");
        if (t.isInNative()) s.append(" (in native)");
        s.append('\n');
        StackTraceElement[] stack = t.getStackTrace();
        int i = 0;
        for (; i < stack.length && i < 32; i++) {
            s.append("\tat ").append(stack[i]).append('\n');
            if (i == 0 && t.getLockInfo() != null) {
                switch (t.getThreadState()) {
                    case BLOCKED -> s.append("\t-  blocked on ").append(t.getLockInfo()).append('\n');
                    case WAITING, TIMED_WAITING -> s.append("\t-  waiting on ").append(t.getLockInfo()).append('\n');
                    default -> { }
                }
            }
            for (var m : t.getLockedMonitors()) {
                if (m.getLockedStackDepth() == i) s.append("\t-  locked ").append(m).append('\n');
            }
        }
        if (i < stack.length) s.append("\t...\n");
        var held = t.getLockedSynchronizers();
        if (held.length > 0) {
            s.append("\n\tNumber of locked synchronizers = ").append(held.length).append('\n');
            for (var h : held) s.append("\t- ").append(h).append('\n');
        }
        out.print(s.append('\n'));
    }

    static boolean first = true;

    /** Prints one element of the actuator's array, fields in the order of Spring Boot 2.7. */
    static void actuator(ThreadInfo t, PrintStream out) {
        StringBuilder s = new StringBuilder(first ? "{\"threads\":[" : ",");
        first = false;
        s.append("{\"threadName\":").append(quote(t.getThreadName())).append(",\"threadId\":").append(t.getThreadId());
        s.append(",\"blockedTime\":-1,\"blockedCount\":").append(t.getBlockedCount()).append(",\"waitedTime\":-1,\"waitedCount\":").append(t.getWaitedCount());
        s.append(",\"lockName\":").append(quote(t.getLockName())).append(",\"lockOwnerId\":").append(t.getLockOwnerId());
        s.append(",\"lockOwnerName\":").append(quote(t.getLockOwnerName())).append(",\"daemon\":").append(t.isDaemon());
        s.append(",\"inNative\":").append(t.isInNative()).append(",\"suspended\":").append(t.isSuspended());
        s.append(",\"threadState\":\"").append(t.getThreadState()).append("\",\"priority\":").append(t.getPriority()).append(",\"stackTrace\":[");
        String comma = "";
        for (StackTraceElement f : t.getStackTrace()) {
            s.append(comma);
            frame(f, s);
            comma = ",";
        }
        s.append("],\"lockedMonitors\":[");
        comma = "";
        for (var m : t.getLockedMonitors()) {
            s.append(comma).append("{\"className\":").append(quote(m.getClassName())).append(",\"identityHashCode\":").append(m.getIdentityHashCode());
            s.append(",\"lockedStackDepth\":").append(m.getLockedStackDepth()).append(",\"lockedStackFrame\":");
            frame(m.getLockedStackFrame(), s);
            s.append('}');
            comma = ",";
        }
        s.append("],\"lockedSynchronizers\":[");
        comma = "";
        for (var l : t.getLockedSynchronizers()) {
            s.append(comma).append("{\"className\":").append(quote(l.getClassName())).append(",\"identityHashCode\":").append(l.getIdentityHashCode()).append('}');
            comma = ",";
        }
        s.append("],\"lockInfo\":");
        var l = t.getLockInfo();
        if (l == null) s.append("null}");
        else s.append("{\"className\":").append(quote(l.getClassName())).append(",\"identityHashCode\":").append(l.getIdentityHashCode()).append("}}");
        out.print(s);
    }

    static void frame(StackTraceElement f, StringBuilder s) {
        s.append("{\"classLoaderName\":").append(quote(f.getClassLoaderName())).append(",\"moduleName\":").append(quote(f.getModuleName()));
        s.append(",\"moduleVersion\":").append(quote(f.getModuleVersion())).append(",\"methodName\":").append(quote(f.getMethodName()));
        s.append(",\"fileName\":").append(quote(f.getFileName())).append(",\"lineNumber\":").append(f.getLineNumber());
        s.append(",\"nativeMethod\":").append(f.isNativeMethod()).append(",\"className\":").append(quote(f.getClassName())).append('}');
    }

    static String quote(String s) {
        return s == null ? "null" : '"' + s.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
