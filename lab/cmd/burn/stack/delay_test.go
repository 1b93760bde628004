package stack

import (
	"io"
	"net"
	"testing"
	"time"
)

func TestDelayHandsOnLaterAndInOrder(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		c, err := echo.Accept()
		if err == nil {
			_, _ = io.Copy(c, c)
			_ = c.Close()
		}
	}()
	const each = 20 * time.Millisecond
	d, err := startDelay("127.0.0.1:0", echo.Addr().String(), each)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	c, err := net.Dial("tcp", d.l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for _, s := range []string{"one ", "two ", "three"} {
		_, _ = io.WriteString(c, s)
	}
	_ = c.(*net.TCPConn).CloseWrite()
	got := make([]byte, len("one two three"))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "one two three" {
		t.Errorf("%q, %v", got, err)
	}
	if took := time.Since(begin); took < 2*each {
		t.Errorf("there and back in %s", took)
	}
}
