package correlate

import "testing"

// A read that takes a lock or calls a function is no proof of a slow statement:
// it may wait for whoever holds the lock.
func TestOnlyReads(t *testing.T) {
	for statement, want := range map[string]bool{
		"select * from t_stock where name like ?":                 true,
		"SELECT n FROM t_stock s JOIN t_order o ON s.id=o.id":     true,
		"select n from t_stock where id=? for update":             false,
		"select n from t_stock where id=? for no key update":      false,
		"select n from t_stock where id=? lock in share mode":     false,
		"select n from t_stock with (updlock,rowlock) where id=?": false,
		"select get_lock(?,?)":                                    false,
		"select get_lock(?,?) from dual":                          false,
		"select pg_advisory_lock(?)":                              false,
		"select pg_advisory_xact_lock(k) from t_keys where id=?":  false,
		"select place_order(?)":                                   false,
		"select nextval(?)":                                       false,
		"select sleep(?) from dual":                               false,
		"select ?":                                                false,
		"update t_stock set n=n-? where id=?":                     false,
		"with x as (delete from t returning n) select n from x":   false,
	} {
		if got := onlyReads(statement); got != want {
			t.Errorf("onlyReads(%q) = %v, want %v", statement, got, want)
		}
	}
}
