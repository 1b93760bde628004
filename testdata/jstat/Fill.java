import java.util.*;
public class Fill { public static void main(String[] a) throws Exception {
  List<byte[]> keep = new ArrayList<>(); long end = System.nanoTime() + 14_000_000_000L; Random r = new Random(1);
  while (System.nanoTime() < end) { try { if (keep.size() < 340) keep.add(new byte[100_000]); else keep.set(r.nextInt(keep.size()), new byte[100_000]); byte[] g = new byte[20_000]; Thread.sleep(0, 200_000);} catch (OutOfMemoryError e) { keep.subList(0, 20).clear(); } } } }
