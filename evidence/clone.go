package evidence

import (
	"bytes"
	"maps"
	"slices"
)

// Clone returns a copy of r that shares nothing with r that a parser may
// overwrite.
func (r *Record) Clone() *Record {
	c := *r
	c.Raw = bytes.Clone(r.Raw)
	c.Attempt = copyOf(r.Attempt)
	c.Span = copyOf(r.Span)
	c.Access = copyOf(r.Access)
	if a := c.Access; a != nil {
		a.Verb, a.Path, a.Host, a.Client = bytes.Clone(a.Verb), bytes.Clone(a.Path), bytes.Clone(a.Host), bytes.Clone(a.Client)
		a.RequestID, a.Key = bytes.Clone(a.RequestID), bytes.Clone(a.Key)
		a.Upstreams = slices.Clone(a.Upstreams)
	}
	c.Tries = copyOf(r.Tries)
	if c.Tries != nil {
		c.Tries.Providers = slices.Clone(c.Tries.Providers)
		c.Tries.Each = slices.Clone(c.Tries.Each)
	}
	c.Route = copyOf(r.Route)
	if c.Route != nil {
		c.Route.Stages = slices.Clone(c.Route.Stages)
		c.Route.Addresses = slices.Clone(c.Route.Addresses)
	}
	c.Pool = copyOf(r.Pool)
	if c.Pool != nil {
		c.Pool.Holders = slices.Clone(c.Pool.Holders)
	}
	c.Dump = copyOf(r.Dump)
	if c.Dump != nil {
		c.Dump.Deadlocks = slices.Clone(c.Dump.Deadlocks)
		for i, cycle := range c.Dump.Deadlocks {
			c.Dump.Deadlocks[i] = slices.Clone(cycle)
		}
	}
	c.Stack = copyOf(r.Stack)
	if c.Stack != nil {
		c.Stack.Frames = slices.Clone(c.Stack.Frames)
		c.Stack.Holds = slices.Clone(c.Stack.Holds)
		c.Stack.Labels = maps.Clone(c.Stack.Labels)
	}
	c.SQL = copyOf(r.SQL)
	if c.SQL != nil {
		c.SQL.Plan = slices.Clone(c.SQL.Plan)
		c.SQL.Waits = copyOf(c.SQL.Waits)
	}
	c.Policy = copyOf(r.Policy)
	c.Mark = copyOf(r.Mark)
	c.Counter = copyOf(r.Counter)
	return &c
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
