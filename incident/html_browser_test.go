package incident

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a Chromium without a window, in a profile of its own.
type browser struct {
	program, profile string
}

// newBrowser returns the Chromium that FIREBREAK_CHROMIUM names, or skips the
// test: a browser takes longer to start than all other tests of the package.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	name := os.Getenv("FIREBREAK_CHROMIUM")
	if name == "" {
		t.Skip("no browser looks at the pages: FIREBREAK_CHROMIUM=chromium would (apt-get install chromium)")
	}
	program, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("FIREBREAK_CHROMIUM: %v", err)
	}
	return &browser{program, t.TempDir()}
}

// run starts the browser for one job and returns what it printed, and what it
// wrote to its log.
func (b *browser) run(t *testing.T, args ...string) (out, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.program, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
		"--user-data-dir=" + b.profile, "--enable-logging=stderr", "--virtual-time-budget=2000",
	}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", b.program, err, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// site serves one page and remembers what was asked of it.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// serve answers "/" with the page and "/frame" with a frame around it, as wide as
// it is asked for: a browser without a window does not make itself narrow.
func serve(t *testing.T, page []byte) *site {
	t.Helper()
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Skipf("no port to listen on: %v", err)
	} else {
		_ = l.Close()
	}
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.String())
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/frame" {
			width, _ := strconv.Atoi(r.FormValue("width"))
			_, _ = fmt.Fprintf(w, `<!DOCTYPE html><title>frame</title><iframe src="/" width="%d" height="1400" style="border:0"></iframe>`, width)
			return
		}
		_, _ = w.Write(page)
	}))
	t.Cleanup(s.Close)
	return s
}

// console finds what a page, or its policy, complained about.
var console = regexp.MustCompile(`(?m)^.*CONSOLE.*$`)

// TestHTMLInABrowser looks at pages as a reader does: on a screen, light and
// dark, on a telephone and on paper.
func TestHTMLInABrowser(t *testing.T) {
	b := newBrowser(t)
	for _, name := range []string{"drawn", "hostile"} {
		site := serve(t, htmlOf(t, pages()[name], HTMLOptions{}))
		for _, look := range []struct {
			width, scheme int // of colours: 0 is dark, 1 light
		}{{1280, 1}, {390, 0}} {
			picture := filepath.Join(t.TempDir(), "page.png")
			_, log := b.run(t, "--screenshot="+picture, fmt.Sprintf("--window-size=%d,1400", look.width), fmt.Sprintf("--blink-settings=preferredColorScheme=%d", look.scheme), site.URL)
			if complaints := console.FindAllString(log, -1); len(complaints) > 0 {
				t.Errorf("%s at %d: %s", name, look.width, strings.Join(complaints, "\n"))
			}
			dark := look.scheme == 0
			if n, background := colors(t, picture); n < 12 || dark != (background < 0x80) {
				t.Errorf("%s at %d: %d colours on a background of %#x", name, look.width, n, background)
			}
		}
		paper := filepath.Join(t.TempDir(), "page.pdf")
		b.run(t, "--print-to-pdf="+paper, site.URL)
		if info, err := os.Stat(paper); err != nil || info.Size() < 5000 {
			t.Errorf("%s: no paper: %v", name, err)
		}
		site.mu.Lock()
		asked := slices.Compact(slices.Clone(site.asked))
		site.mu.Unlock()
		if !slices.Equal(asked, []string{"/"}) {
			t.Errorf("%s: the browser asked for %q", name, asked)
		}
	}
}

// colors counts the colours of a picture, and returns how light its corner is.
func colors(t *testing.T, picture string) (n int, background uint32) {
	t.Helper()
	data, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]uint32]bool{}
	size := img.Bounds()
	for y := size.Min.Y; y < size.Max.Y; y++ {
		for x := size.Min.X; x < size.Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	_, background, _, _ = img.At(size.Min.X, size.Min.Y).RGBA()
	return len(seen), background >> 8
}

// ruler is what the test puts into a copy of a page, whose policy it takes out,
// to measure what the browser made of it.
const ruler = `<script>
const found = [];
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > width) found.push("the page is " + document.documentElement.scrollWidth + " wide");
for (const e of document.querySelectorAll("body *")) {
	if (e.closest("pre") && e.tagName != "PRE") continue;
	const box = e.getBoundingClientRect();
	if (box.width > 0 && box.right > width + 1 && getComputedStyle(e).position != "absolute" && !e.closest("svg *"))
		found.push("<" + e.tagName + "> ends at " + Math.round(box.right) + ": " + e.textContent.slice(0, 40));
}
for (const text of document.querySelectorAll(".chain svg svg text")) {
	const box = text.getBoundingClientRect(), card = text.closest("svg").getBoundingClientRect();
	if (box.width > 0 && box.right > card.right + 1) found.push("a word leaves its box: " + text.textContent);
}
function light(c) {
	const parts = c.match(/[\d.]+/g).map(Number);
	const [r, g, b] = parts.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(e) {
	for (; e; e = e.parentElement) {
		const c = getComputedStyle(e).backgroundColor;
		if (c != "rgba(0, 0, 0, 0)") return c;
	}
	return "rgb(255, 255, 255)";
}
const pale = new Set();
for (const e of document.querySelectorAll("body *")) {
	const own = [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim());
	if (!own || e.tagName == "SCRIPT" || e.tagName == "title") continue;
	const style = getComputedStyle(e);
	const svg = e.tagName == "text" || e.tagName == "tspan";
	const card = e.closest("svg svg") && e.closest("svg svg").querySelector(".card");
	let ground = behind(e);
	if (card) ground = getComputedStyle(card).fill;
	if (e.classList.contains("in")) ground = getComputedStyle(e.previousElementSibling).fill;
	const a = light(svg ? style.fill : style.color), b = light(ground);
	const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	if (contrast < 4.5) pale.add(e.tagName + "." + (e.getAttribute("class") || "") + " has a contrast of " + contrast.toFixed(2));
}
found.push(...pale);
parent.document.title = "RULER " + width + " wide: " + found.length + " " + found.slice(0, 12).join(" | ");
</script>`

var policy = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)

var folded = regexp.MustCompile(`<details([ >])`)

// TestHTMLFits measures pages in a browser: nothing is wider than the screen, no
// word of the chain leaves its box, and every word stands out from what is
// behind it.
func TestHTMLFits(t *testing.T) {
	b := newBrowser(t)
	for _, look := range []struct {
		name          string
		width, scheme int
	}{{"drawn", 1280, 1}, {"drawn", 390, 0}, {"odd", 700, 1}, {"hostile", 360, 1}} {
		name := look.name
		page := policy.ReplaceAll(htmlOf(t, pages()[name], HTMLOptions{}), nil)
		page = bytes.Replace(page, []byte("</body>"), []byte(ruler+"</body>"), 1)
		page = folded.ReplaceAll(page, []byte("<details open$1"))
		site := serve(t, page)
		out, _ := b.run(t, "--dump-dom", "--window-size=1400,1500", fmt.Sprintf("--blink-settings=preferredColorScheme=%d", look.scheme), fmt.Sprintf("%s/frame?width=%d", site.URL, look.width))
		_, said, _ := strings.Cut(out, "<title>RULER ")
		said, _, _ = strings.Cut(said, "</title>")
		if !strings.HasPrefix(said, fmt.Sprintf("%d wide: 0 ", look.width)) {
			t.Errorf("%s at %d: %s", name, look.width, strings.ReplaceAll(said, " | ", "\n"))
		}
	}
}
