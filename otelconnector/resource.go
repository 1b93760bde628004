package otelconnector

import (
	"math"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// scope is the instrumentation scope of what is handed on.
const scope = "github.com/firebreak-io/firebreak/otelconnector"

var inf = math.Inf(1)

// The keys of a resource.
const (
	serviceName = "service.name"
	instanceID  = "service.instance.id"
)

// resourceOf is whose the metrics are: firebreak's, in this Collector. Several
// instances are told apart by the ID that the Collector has or is given
// (service::telemetry::resource), and so their counters add up.
func resourceOf(set connector.Settings) pcommon.Resource {
	r := pcommon.NewResource()
	r.Attributes().PutStr(serviceName, "firebreak")
	id := ""
	if given, ok := set.Resource.Attributes().Get(instanceID); ok {
		id = given.AsString()
	}
	if id == "" {
		id = uuid.NewString()
	}
	r.Attributes().PutStr(instanceID, id)
	return r
}
