import java.io.File;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.valves.AccessLogValve;

/**
 * Runs an embedded Tomcat with several access logs at once and asks it for what a
 * shop is asked for. make.sh runs it with both major versions.
 */
public class TomcatLogs {
    public static void main(String[] args) throws Exception {
        String out = new File(args[0]).getAbsolutePath();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(out + "/base");
        tomcat.setPort(0);
        String[][] patterns = {
            {"common", "common"},
            {"combined", "combined"},
            {"timed", "%h %l %u %t \"%r\" %s %b %D"},
            {"both-times", "%{X-Forwarded-For}i %t \"%r\" %s %b D=%D T=%T F=%F thread=%I rid=%{X-Request-Id}i"},
        };
        for (String[] p : patterns) {
            AccessLogValve valve = new AccessLogValve();
            valve.setDirectory(out);
            valve.setPrefix(p[0]);
            valve.setSuffix(".log");
            valve.setRotatable(false);
            valve.setPattern(p[1]);
            valve.setBuffered(false);
            tomcat.getHost().getPipeline().addValve(valve);
        }
        Context context = tomcat.addContext("", new File(out).getAbsolutePath());
        Wrapper servlet = Tomcat.addServlet(context, "shop", Shop.make());
        servlet.addMapping("/*");
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
        ExecutorService pool = Executors.newFixedThreadPool(6);
        for (int i = 0; i < 24; i++) {
            int n = i;
            pool.submit(() -> ask(port, n));
            Thread.sleep(25);
        }
        pool.shutdown();
        pool.awaitTermination(20, TimeUnit.SECONDS);
        tomcat.stop();
    }

    static void ask(int port, int n) {
        String[] paths = {"/stock/SKU-77?warehouse=3", "/price/88", "/slow/" + n, "/fail/" + n, "/missing"};
        try {
            HttpURLConnection c = (HttpURLConnection) new URL("http://127.0.0.1:" + port + paths[n % paths.length]).openConnection();
            c.setRequestProperty("X-Request-Id", String.format("5b8efff7-0000-4103-9269-%012d", n));
            c.setRequestProperty("X-Forwarded-For", "10.20.9.14");
            c.setRequestProperty("User-Agent", "okhttp/4.12.0");
            if (n % 7 == 0) c.setRequestMethod("POST");
            c.setReadTimeout(n % 10 == 2 ? 150 : 5000); // some callers give up
            c.getResponseCode();
        } catch (Exception e) {
            // it gave up
        }
    }
}
