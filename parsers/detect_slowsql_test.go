package parsers

import "testing"

func TestDetectSlowStatements(t *testing.T) {
	checkDetected(t, []detectCase{
		{"hibernate 5", "SlowQuery: 1012 milliseconds. SQL: 'HikariProxyPreparedStatement@77 wrapping com.mysql.cj.jdbc.ClientPreparedStatement: select o.id from t_order o where o.buyer='x''", `sql client-slow "select o.id from t_order o where o.buyer='x'" count=0 duration=1.012s`},
		{"hibernate 5 without a pool", "SlowQuery: 30 milliseconds. SQL: 'select 1'", `sql client-slow "select 1" count=0 duration=30ms`},
		{"hibernate 6", "Slow query took 2001 milliseconds [select o.id from t_order o where o.tags[1]=?]", `sql client-slow "select o.id from t_order o where o.tags[1]=?" count=0 duration=2.001s`},
		{"gorm", "/src/dao/stock.go:44 SLOW SQL >= 200ms\n[3120.331ms] [rows:1] SELECT * FROM `t_stock` WHERE sku = '1'", "sql client-slow \"SELECT * FROM `t_stock` WHERE sku = '1'\" count=0 duration=3.120331s"},
		{"gorm of an unknown number of rows", "/src/dao/stock.go:44 SLOW SQL >= 1s\n[1500.000ms] [rows:-] UPDATE t SET n=n-1 WHERE id=7", `sql client-slow "UPDATE t SET n=n-1 WHERE id=7" count=0 duration=1.5s`},
		{"gorm cut", "/src/dao/stock.go:44 SLOW SQL >= 200ms\n[3120.331ms", ""},
		{"p6spy", "#1781763601123 | took 3012ms | statement | connection 3| url jdbc:p6spy:mysql://db:3306/shop\nselect * from t where id = ?\nselect * from t where id = 7;", `sql client-slow "select * from t where id = ?" count=0 duration=3.012s`},
		{"p6spy of a fast statement", "#1781763601123 | took 3ms | statement | connection 3| url jdbc:p6spy:mysql://db:3306/shop\nselect 1\nselect 1;", ""},
		{"look-alike", "SlowQuery: see the manual. Slow query took ages", ""},
	})
}

func TestDetectDiscovery(t *testing.T) {
	checkDetected(t, []detectCase{
		{"ribbon", "com.netflix.client.ClientException: Load balancer does not have available server for client: risk-engine", "no provider risk-engine: Load balancer does not have available server for client"},
		{"ribbon behind RestTemplate", "java.lang.IllegalStateException: No instances available for risk-engine", "no provider risk-engine: No instances available for"},
		{"load balancer", "No servers available for service: risk-engine", "no provider risk-engine: No servers available for service"},
		{"feign", `[503] during [POST] to [http://risk-engine/score] [RiskClient#score(Req)]: [Load balancer does not contain an instance for the service risk-engine]`, "no provider risk-engine: Load balancer does not contain an instance for the service"},
		{"gateway", `503 SERVICE_UNAVAILABLE "Unable to find instance for risk-engine"`, "no provider risk-engine: Unable to find instance for"},
		{"grpc", "rpc error: code = Unavailable desc = last resolver error: produced zero addresses", "downstream.slow [] rpc error: code = Unavailable desc = last resolver error: produced zero addresses\nno provider : produced zero addresses"},
		{"look-alike", "No instances available for ", ""},
	})
}
