package correlate

import "testing"

func TestShorten(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"fits", "t_sku_stock full scan", "t_sku_stock full scan"},
		{
			"asides go first",
			"SkuService.getSkuStock (p95 3.1 s) spends 92 % of its time waiting for calls of its own, most of vendor.example:8443 (1,204x)",
			"SkuService.getSkuStock spends 92 % of its time waiting for calls of its own, most of vendor.example:8443",
		},
		{
			"packages, then clauses",
			"173 of 200 threads of DubboServerHandler-10.20.4.10:20880 wait for a downstream RPC answer (4 dumps), most under com.acme.shop.product.PriceClient.price(PriceClient.java:27)",
			"173 of 200 threads of DubboServerHandler-10.20.4.10:20880 wait for a downstream RPC answer",
		},
		{
			"an aside with brackets of its own",
			"20 of the 20 threads that hold a connection do not run SQL with it, they do something else (http at main.(*payClient).Charge(client.go:88))",
			"20 of the 20 threads that hold a connection do not run SQL with it, they do something else",
		},
		{
			"one long clause keeps both ends",
			"SkuService.getSkuStock spends nearly all of the time of nearly all of its calls waiting for calls of its own to https://quotes.vendor.example:8443",
			"SkuService.getSkuStock spends nearly all of the time of nearly all … https://quotes.vendor.example:8443",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := shorten(tt.text, 105)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestStatementBrief(t *testing.T) {
	tests := []struct{ text, want string }{
		{"select * from t_price where region=?", "select * from t_price where region=?"},
		{
			"select id,buyer,total,created_at,updated_at,status,channel,warehouse,remark from t_trade where shop_id=? and state=?",
			"select … from t_trade where shop_id=? and state=?",
		},
	}
	for _, tt := range tests {
		if got := statementBrief(tt.text); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	if got, want := changeBrief("alter table t_member_level_history add column level_v2 tinyint not null default 0"), "alter table t_member_level_history add column level_v2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
