package collect

import (
	"net"
	"os"
	"strings"

	"github.com/firebreak-io/firebreak/lab/cmd/burn/stack"
)

// Cleaner puts neutral names in place of what tells of the machine that the lab
// ran on: its folders, its name and its addresses. Nothing else is altered.
type Cleaner struct{ r *strings.Replacer }

// NewCleaner knows this machine.
func NewCleaner(s *stack.Stack) *Cleaner {
	pairs := []string{
		s.Env.Dir + "/run", "/srv/shop",
		s.Env.Dir, "/srv/shop",
		s.Java, "/opt/shop",
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && host != "localhost" {
		pairs = append(pairs, host, "shop-host")
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			pairs = append(pairs, ip.IP.String(), "10.20.4.10")
		}
	}
	return cleaner(pairs)
}

func cleaner(pairs []string) *Cleaner { return &Cleaner{strings.NewReplacer(pairs...)} }

// Bytes cleans a text.
func (c *Cleaner) Bytes(text []byte) []byte { return []byte(c.r.Replace(string(text))) }
