package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// telemetry sends what serve tells of itself, by OTLP over HTTP. Without traces
// its tracer is nil.
type telemetry struct {
	cfg    telemetryConfig
	self   *resource.Resource // nil if nothing is sent
	tracer trace.Tracer
	ends   []func(context.Context) error
}

// instrumented names the spans' origin.
const instrumented = "github.com/firebreak-io/firebreak"

// startTelemetry begins to send spans, if that is asked for. They are few, see
// sparse. OTEL_EXPORTER_OTLP_HEADERS and the like work as OpenTelemetry has them.
func startTelemetry(ctx context.Context, c telemetryConfig, logger *slog.Logger) (*telemetry, error) {
	t := &telemetry{cfg: c}
	if !c.Traces && !c.Metrics {
		return t, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("failed", "what", "telemetry", "err", err) }))
	var err error
	if t.self, err = ownResource(ctx); err != nil || !c.Traces {
		return t, err
	}
	to, err := t.endpoint("v1/traces")
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(to))
	if err != nil {
		return nil, err
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(t.self), sdktrace.WithSampler(newSparse(time.Second)))
	t.tracer = p.Tracer(instrumented, trace.WithInstrumentationVersion(version()))
	t.ends = append(t.ends, p.Shutdown)
	return t, nil
}

// send sends metrics once a minute, if that is asked for: those of /metrics.
func (t *telemetry) send(ctx context.Context, metrics prometheus.Gatherer) error {
	if !t.cfg.Metrics {
		return nil
	}
	to, err := t.endpoint("v1/metrics")
	if err != nil {
		return err
	}
	exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(to))
	if err != nil {
		return err
	}
	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(decoded{bridge.NewMetricProducer(bridge.WithGatherer(metrics))}))
	t.ends = append(t.ends, metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(t.self)).Shutdown)
	return nil
}

// decoded mends the exemplars of the bridge, which takes the hexadecimal text of
// an ID for the ID: receivers refuse all that is sent with it.
type decoded struct{ metric.Producer }

// Produce implements metric.Producer.
func (d decoded) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	list, err := d.Producer.Produce(ctx)
	for _, scope := range list {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[float64])
			if !ok {
				continue
			}
			for _, p := range sum.DataPoints {
				for i := range p.Exemplars {
					x := &p.Exemplars[i]
					x.TraceID, x.SpanID = unhex(x.TraceID, 16), unhex(x.SpanID, 8)
				}
			}
		}
	}
	return list, err
}

// unhex decodes an ID of so many bytes; nil if it is none.
func unhex(text []byte, size int) []byte {
	if len(text) == size {
		return text // a bridge that decodes
	}
	id := make([]byte, hex.DecodedLen(len(text)))
	if n, err := hex.Decode(id, text); err != nil || n != size {
		return nil
	}
	return id
}

func (t *telemetry) endpoint(path string) (string, error) {
	u, err := url.Parse(t.cfg.Endpoint)
	if err != nil {
		return "", err
	}
	return u.JoinPath(path).String(), nil
}

// ownResource says who sends.
func ownResource(ctx context.Context) (*resource.Resource, error) {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never fails
	return resource.New(ctx, resource.WithHost(), resource.WithAttributes(
		attribute.String("service.name", "firebreak"), attribute.String("service.version", version()), attribute.String("service.instance.id", hex.EncodeToString(id[:])),
	), resource.WithFromEnv(), resource.WithTelemetrySDK())
}

// Close sends what is left, for a moment.
func (t *telemetry) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var errs []error
	for _, end := range t.ends {
		errs = append(errs, end(ctx))
	}
	t.ends = nil
	return errors.Join(errs...)
}

// sparse samples one span of a name in a while, and what is done within it. What
// a sender says of its own spans is not followed: it may send thousands a second.
type sparse struct {
	every time.Duration
	mu    sync.Mutex
	last  map[string]time.Time
}

func newSparse(every time.Duration) *sparse {
	return &sparse{every: every, last: map[string]time.Time{}}
}

// maxSpanNames bounds the names that are remembered.
const maxSpanNames = 100

// ShouldSample implements the SDK's Sampler.
func (s *sparse) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	above := trace.SpanContextFromContext(p.ParentContext)
	result := sdktrace.SamplingResult{Decision: sdktrace.Drop, Tracestate: above.TraceState()}
	if above.IsValid() && !above.IsRemote() {
		if above.IsSampled() {
			result.Decision = sdktrace.RecordAndSample
		}
		return result
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.last[p.Name]
	if known && now.Sub(last) < s.every || !known && len(s.last) >= maxSpanNames {
		return result
	}
	s.last[p.Name] = now
	result.Decision = sdktrace.RecordAndSample
	return result
}

// Description implements the SDK's Sampler.
func (s *sparse) Description() string { return "sparse/" + s.every.String() }

// validateTelemetry refuses what would go nowhere, or into this very process.
func (c *config) validateTelemetry(v *verdicts) {
	const key = "telemetry.endpoint"
	t := c.Telemetry
	if t.Endpoint == "" {
		if t.Traces || t.Metrics {
			v.refuse(key, "is needed to send telemetry")
		}
		return
	}
	u, err := url.Parse(t.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		v.refuse(key, "%q is no URL of http or https", t.Endpoint)
		return
	}
	for _, listener := range append([]string{c.OTLP.GRPC, c.OTLP.HTTP}, c.Web.Listen...) {
		if leadsTo(u, listener) {
			v.refuse(key, "%s is where firebreak itself listens: what it tells of itself would be counted as the fleet's", t.Endpoint)
			return
		}
	}
}

// leadsTo reports whether a URL is answered by a listener of this machine.
func leadsTo(u *url.URL, listener string) bool {
	host, port, err := net.SplitHostPort(listener)
	to := u.Port()
	switch {
	case to == "" && u.Scheme == "https":
		to = "443"
	case to == "":
		to = "80"
	}
	if err != nil || port != to {
		return false
	}
	at, anywhere := addresses(host), false
	for _, ip := range at {
		anywhere = anywhere || ip.IsUnspecified()
	}
	own := at
	if list, err := net.InterfaceAddrs(); err == nil && anywhere {
		for _, a := range list {
			if n, ok := a.(*net.IPNet); ok {
				own = append(own, n.IP)
			}
		}
	}
	for _, x := range addresses(u.Hostname()) {
		if x.IsUnspecified() || x.IsLoopback() { // both lead to this machine
			x = net.IPv4(127, 0, 0, 1)
		}
		for _, y := range own {
			if x.Equal(y) || x.IsLoopback() && (y.IsLoopback() || y.IsUnspecified()) {
				return true
			}
		}
	}
	return false
}

// addresses are those of a host. An empty one is all of this machine.
func addresses(host string) []net.IP {
	switch ip := net.ParseIP(host); {
	case host == "":
		return []net.IP{net.IPv4zero}
	case host == "localhost":
		return []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	case ip != nil:
		return []net.IP{ip}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil // it leads nowhere, as will be said when something is sent
	}
	list := make([]net.IP, len(found))
	for i, a := range found {
		list[i] = a.IP
	}
	return list
}
