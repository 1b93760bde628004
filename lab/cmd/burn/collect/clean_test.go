package collect

import "testing"

func TestCleanerLeavesNothingOfTheMachine(t *testing.T) {
	c := cleaner([]string{"/home/me/lab/.work/run", "/srv/shop", "/home/me/lab/.work", "/srv/shop", "devbox-17", "shop-host", "192.0.2.9", "10.20.4.10"})
	in := "dump in /home/me/lab/.work/run/product-1/x and /home/me/lab/.work/db on devbox-17 (192.0.2.9:20880), 127.0.0.1 stays"
	want := "dump in /srv/shop/product-1/x and /srv/shop/db on shop-host (10.20.4.10:20880), 127.0.0.1 stays"
	if got := string(c.Bytes([]byte(in))); got != want {
		t.Errorf("%s", got)
	}
}
