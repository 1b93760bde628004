package otlp

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Token is a bearer token that stands in a file. The file is looked at again
// when it has changed. A nil Token allows everything.
type Token struct {
	name string
	now  func() time.Time

	mu      sync.Mutex
	looked  time.Time
	changed time.Time
	size    int64
	sum     [sha256.Size]byte
	known   bool
}

// lookAgain is how often a file is looked at for a change.
const lookAgain = time.Second

// ReadToken reads a token from a file.
func ReadToken(name string) (*Token, error) {
	t := &Token{name: name, now: time.Now}
	return t, t.read()
}

// read reads the file if it has changed. What is in use goes on to be used if it
// cannot be read, or holds nothing.
func (t *Token) read() error {
	info, err := os.Stat(t.name)
	if err != nil {
		return err
	}
	if t.known && info.ModTime().Equal(t.changed) && info.Size() == t.size {
		return nil
	}
	if info.Size() > 64<<10 {
		return fmt.Errorf("%s is too large for a token", t.name)
	}
	text, err := os.ReadFile(t.name)
	if err != nil {
		return err
	}
	token := bytes.TrimSpace(text)
	if len(token) == 0 {
		return errors.New(t.name + " holds no token")
	}
	t.sum, t.known, t.changed, t.size = sha256.Sum256(token), true, info.ModTime(), info.Size()
	return nil
}

// allows reports whether a request may pass by its Authorization headers.
func (t *Token) allows(headers []string) bool {
	if t == nil {
		return true
	}
	if len(headers) != 1 {
		return false
	}
	kind, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(kind, "Bearer") {
		return false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.now(); now.Sub(t.looked) >= lookAgain || now.Before(t.looked) {
		t.looked = now
		_ = t.read() // the one in use stays
	}
	return subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1
}
