package otlp

import (
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/confignet"
	metric "go.opentelemetry.io/otel/metric/noop"
	trace "go.opentelemetry.io/otel/trace/noop"
)

// maxRequest bounds one request after decompression.
const maxRequest = 20 // MiB

// grpcServer is the Collector's configuration of the server for gRPC.
func (c Config) grpcServer() configgrpc.ServerConfig {
	g := configgrpc.NewDefaultServerConfig()
	g.NetAddr = confignet.AddrConfig{Endpoint: c.GRPC, Transport: confignet.TransportTypeTCP}
	g.MaxRecvMsgSizeMiB = maxRequest
	g.ReadBufferSize = 512 << 10
	return g
}

// httpServer is the Collector's configuration of the server for HTTP.
func (c Config) httpServer() confighttp.ServerConfig {
	h := confighttp.NewDefaultServerConfig()
	h.NetAddr = confignet.AddrConfig{Endpoint: c.HTTP, Transport: confignet.TransportTypeTCP}
	h.MaxRequestBodySize = maxRequest << 20
	h.ReadHeaderTimeout = 10 * time.Second // nobody holds a connection by saying nothing
	h.ReadTimeout = time.Minute
	return h
}

// extensions are those of the Collector that the servers may name: none.
func (c Config) extensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{}
}

// telemetry is what the Collector's parts say of themselves: only their logs.
func (c Config) telemetry() component.TelemetrySettings {
	return component.TelemetrySettings{
		Logger: zapTo(c.Logger), TracerProvider: trace.NewTracerProvider(), MeterProvider: metric.NewMeterProvider(),
	}
}
