package stack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// DropIndex takes the index of the stock table away. As all faults it gives what
// undoes it.
func (s *Stack) DropIndex(ctx context.Context) (undo func(context.Context) error, err error) {
	db := s.Database()
	return db.AddIndex, db.DropIndex(ctx)
}

// LockRows holds rows of the stock table in an open transaction.
func (s *Stack) LockRows(_ context.Context, skus []string) (undo func(context.Context) error, err error) {
	job, err := s.DB.LockRows(s.Env, skus, 2*time.Minute)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		// The server would go on to sleep without its client.
		return errors.Join(job.Stop(), s.DB.KillOthers(ctx))
	}, nil
}

// Inside turns on a service's own fault, given as a query.
func (s *Stack) Inside(ctx context.Context, query string, on []string) (undo func(context.Context) error, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("fault %s: %w", query, err)
	}
	set := func(ctx context.Context, values url.Values) error {
		for _, name := range on {
			v, err := s.Service(name)
			if err == nil {
				err = v.Fault(ctx, values)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return func(ctx context.Context) error { return set(ctx, url.Values{"kind": {"none"}}) }, set(ctx, values)
}

// Hang makes the vendor answer no more.
func (s *Stack) Hang(context.Context) (undo func(context.Context) error, err error) {
	s.Vendor.Hang(true)
	return func(context.Context) error { s.Vendor.Hang(false); return nil }, nil
}
