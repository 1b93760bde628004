package otlp

import (
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
)

// strangers counts requests without the token until they are told of.
type strangers struct {
	mu    sync.Mutex
	told  time.Time
	count int
}

// tellAgain is how often requests without the token are told of at most.
const tellAgain = time.Minute

// note counts one, and returns how many are to be told of now: 0, or all since
// the last time.
func (s *strangers) note(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if !s.told.IsZero() && now.Sub(s.told) < tellAgain {
		return 0
	}
	n := s.count
	s.told, s.count = now, 0
	return n
}

// unauthorised refuses a request without the token.
func (r *Receiver) unauthorised(transport, from string) *refusal {
	if n := r.strangers.note(time.Now()); n > 0 {
		r.cfg.Logger.Warn("requests without the right bearer token are refused", "transport", transport, "from", from, "count", n)
	}
	return &refusal{Unauthorised, codes.Unauthenticated, http.StatusUnauthorized, "a bearer token is asked for, and this is not it", false}
}
