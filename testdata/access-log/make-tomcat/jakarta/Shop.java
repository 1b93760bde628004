import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/** The shop that is asked. */
public class Shop extends HttpServlet {
    static Shop make() { return new Shop(); }

    @Override
    protected void service(HttpServletRequest in, HttpServletResponse out) throws java.io.IOException {
        String path = in.getRequestURI();
        try {
            if (path.startsWith("/slow/")) Thread.sleep(420);
            if (path.startsWith("/stock/")) Thread.sleep(12);
        } catch (InterruptedException e) {
            throw new java.io.IOException(e);
        }
        if (path.startsWith("/fail/")) {
            out.sendError(503);
        } else if (path.equals("/missing")) {
            out.sendError(404);
        } else {
            out.getWriter().println("{\"ok\":true}");
        }
    }
}
