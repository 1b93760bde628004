package com.acme.shop;

import java.io.*;
import java.util.logging.*;

final class Files {
    static Object stand() throws Exception {
        RandomAccessFile in = fifo("read");
        Stand.on("disk/read/1", () -> new FileInputStream(path("read")).read());
        Stand.on("disk/read-all/1", () -> java.nio.file.Files.readAllBytes(new File(path("read")).toPath()));
        RandomAccessFile out = fifo("write");
        Stand.on("disk/write/1", () -> { new FileOutputStream(path("write")).write(new byte[1 << 20]); return null; });
        Stand.on("disk/channel-write/1", () -> java.nio.file.Files.write(new File(path("write")).toPath(), new byte[1 << 20]));
        Stand.on("other/process/1", () -> new ProcessBuilder("sleep", "600").start().waitFor());
        Stand.on("disk/process-output/1", () -> new ProcessBuilder("sleep", "600").start().getInputStream().read());
        Stand.keep.add(in);
        Stand.keep.add(out);

        Stand.keep.add(fifo("jul"));
        Logger jul = Logger.getLogger("shop");
        jul.setUseParentHandlers(false);
        StreamHandler h = new StreamHandler(new FileOutputStream(path("jul")), new SimpleFormatter());
        jul.addHandler(h);
        for (int i = 1; i <= 3; i++) {
            Stand.on("logging/jul/" + i, () -> { for (;;) { jul.info("x".repeat(20000)); } });
        }
        PrintStream print = new PrintStream(new FileOutputStream(path("jul")));
        for (int i = 1; i <= 2; i++) {
            Stand.on("logging/print/" + i, () -> { for (;;) { print.println("x".repeat(20000)); } });
        }
        return null;
    }

    static String path(String name) {
        return Stand.DIR + "/" + name;
    }

    /** A pipe that is open at both ends and read by nobody. */
    static RandomAccessFile fifo(String name) throws Exception {
        new ProcessBuilder("mkfifo", path(name)).start().waitFor();
        return new RandomAccessFile(path(name), "rw");
    }
}
