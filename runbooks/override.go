package runbooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firebreak-io/firebreak/incident"
)

// amplifiedEdge is a method whose calls are retried, of a consumer.
type amplifiedEdge struct {
	service, method, consumer string
	write                     bool
}

// maxEdges bounds how many methods one override names.
const maxEdges = 8

// amplified lists the methods whose calls are multiplied by retries, writes
// first: to retry those may execute them twice.
func (c *Case) amplified() []amplifiedEdge {
	var list []amplifiedEdge
	for _, f := range c.of(incident.RetryAmplified) {
		e := amplifiedEdge{service: f.Names["service"], method: f.Names["method"], consumer: f.Names["consumer"]}
		for _, w := range c.of(incident.RetryWrite) {
			e.write = e.write || w.Names["service"] == e.service && w.Names["method"] == e.method
		}
		same := func(o amplifiedEdge) bool { return o.service == e.service && o.method == e.method }
		if len(list) < maxEdges && !slices.ContainsFunc(list, same) {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b amplifiedEdge) int {
		switch {
		case a.write == b.write:
			return 0
		case a.write:
			return -1
		}
		return 1
	})
	return list
}

// edgeWords is "SkuService.getSkuStock and SkuService.getCategory".
func (c *Case) edgeWords() string {
	var words []string
	for _, e := range c.amplified() {
		service := e.service[strings.LastIndexByte(e.service, '.')+1:]
		switch {
		case service == "" && e.method == "":
			continue
		case service == "" || e.method == "":
			words = append(words, oneLine(service+e.method))
		default:
			words = append(words, oneLine(service+"."+e.method))
		}
	}
	return inWords(words)
}

// inWords joins a list the way people do, at most three of it.
func inWords(words []string) string {
	switch n := len(words); {
	case n == 0:
		return ""
	case n == 1:
		return words[0]
	case n > 3:
		return fmt.Sprintf("%s and %d more", strings.Join(words[:2], ", "), n-2)
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// override is Dubbo's dynamic configuration that switches retries off for the
// amplified methods: one document a service, for publishing one replaces the
// one before it. The form v2.7 is read by Dubbo 2.7 and all of 3.x.
func (c *Case) override() string {
	edges := c.amplified()
	var services []string
	methods := map[string][]string{}
	consumers := map[string][]string{}
	for _, e := range edges {
		service, ok := yamlName(e.service)
		if !ok {
			service = "SERVICE" // to be filled in by a person
		}
		parameter := "retries"
		if e.method != "" {
			parameter = e.method + ".retries"
		}
		parameter, ok = yamlName(parameter)
		if !ok {
			parameter = "METHOD.retries"
		}
		if !slices.Contains(services, service) {
			services = append(services, service)
		}
		if !slices.Contains(methods[service], parameter) {
			methods[service] = append(methods[service], parameter)
		}
		if name, ok := yamlName(e.consumer); ok && !slices.Contains(consumers[service], name) {
			consumers[service] = append(consumers[service], name)
		}
	}
	var docs []string
	for _, service := range services {
		var b strings.Builder
		fmt.Fprintf(&b, "# config centre: group dubbo, key %s::.configurators (with a version or group: service:version:group.configurators)\n", strings.Trim(service, "'"))
		fmt.Fprintf(&b, "configVersion: v2.7\nscope: service\nkey: %s\nenabled: true\nconfigs:\n  - side: consumer\n    addresses: [\"0.0.0.0\"]\n", service)
		if names := consumers[service]; len(names) == 1 {
			fmt.Fprintf(&b, "    # applications: [%s]   # only this consumer; without it, all\n", names[0])
		}
		b.WriteString("    parameters:\n")
		for _, m := range methods[service] {
			fmt.Fprintf(&b, "      %s: 0\n", m)
		}
		docs = append(docs, strings.TrimRight(b.String(), "\n"))
	}
	return strings.Join(docs, "\n---\n")
}
