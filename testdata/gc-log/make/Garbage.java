import java.util.ArrayList;
import java.util.List;

/** Fills a small heap, drops half of it, and fills it again until it hardly fits: java -Xmx32m Garbage [MiB to keep] [rounds]. */
public final class Garbage {
    static volatile Object sink;

    public static void main(String[] args) throws InterruptedException {
        int keep = args.length > 0 ? Integer.parseInt(args[0]) : 24;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 4;
        List<byte[]> kept = new ArrayList<>();
        try {
            for (int r = 0; r < rounds; r++) {
                kept.clear();
                for (int i = 0; i < keep * 64; i++) {
                    kept.add(new byte[16 << 10]);
                    for (int j = 0; j < 4; j++) sink = new byte[4 << 10];
                }
                if (r == 1) System.gc();
            }
        } catch (OutOfMemoryError e) {
            kept.clear();
            System.out.println("gave up: " + e);
        }
    }
}
