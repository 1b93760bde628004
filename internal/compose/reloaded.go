package main

import "fmt"

// Access logs whose format changes on the way: the server was told another one
// and reloaded.
var reloaded = []composed{
	{"access-format-changed", formatChanged, want{
		Why:   "nginx logs JSON, and after a reload lines with lists of its tries: only these, far behind the first megabyte, show that checkout's requests for prices are tried at all three servers.",
		Label: "retry-amplification", Or: []string{"downstream-wait"}, Not: []string{"healthy", "slow-sql", "traffic-skew"}, MaxCertainty: "medium",
		Findings: []string{"retry.amplified"},
		Edges:    []edge{{Method: "GET /prices/{id}", Basis: "access-logs", Calls: 80, Attempts: 240, Amplification: 3}},
	}},
	{"access-format-shortened", formatShortened, want{
		Why:   "After a reload the log has no tries any more, and every second request to /pay ends in 504: that much the shorter lines still say, but not why.",
		Label: "inconclusive", Or: []string{"downstream-wait"}, MaxCertainty: "medium", Not: []string{"healthy", "retry-amplification", "slow-sql"},
		Findings: []string{"call.timeout"},
	}},
	{"healthy-access-format-changed", formatChangedCalmly, want{
		Why:   "The same two formats in the other order, and nothing amiss: what is new is the format.",
		Label: "healthy", Not: []string{"retry-amplification", "downstream-wait", "inconclusive"},
	}},
}

const nginxLog = "edge-1/nginx-access.log"

// nginxJSON prints a line of a log_format that is an object without tries.
func nginxJSON(f files, ms int, path string, status int, rt float64) {
	f.printf(nginxLog, "{\"time\":\"%s\",\"remote_addr\":\"10.20.9.%d\",\"request_method\":\"GET\",\"request_uri\":\"%s\",\"status\":%d,\"body_bytes_sent\":%d,\"request_time\":%.3f,\"http_user_agent\":\"okhttp/4.12.0\"}\n",
		after(ms).Format("2006-01-02T15:04:05+00:00"), 3+ms%9, path, status, 180+ms%700, rt)
}

func formatChanged(f files) {
	defer gzipped(f, nginxLog)
	servers := "10.20.60.21:8080, 10.20.60.22:8080, 10.20.60.23:8080"
	for i := range 7000 {
		nginxJSON(f, i*100-700_000, fmt.Sprintf("/prices/%d", 100+i%40), 200, 0.01+float64(spread(i, 20))/1000)
	}
	for i := range 160 {
		if i%2 == 0 {
			nginx(f, nginxLog, after(i*150), fmt.Sprintf("GET /prices/%d", 100+i), 504, 3.003, "prices", servers, "504, 504, 504", "1.001, 1.001, 1.001", requestID(i))
		} else {
			nginx(f, nginxLog, after(i*150), "GET /search?q=a", 200, 0.021, "search", "10.20.60.31:8080", "200", "0.020", requestID(i))
		}
	}
}

func formatShortened(f files) {
	defer gzipped(f, nginxLog)
	for i := range 6000 {
		nginx(f, nginxLog, after(i*100-600_000), "GET /pay", 200, 0.031, "pay", "10.20.61.21:8080", "200", "0.030", requestID(i%97))
	}
	for i := range 400 {
		status := 200
		if i%2 == 0 {
			status = 504
		}
		f.printf(nginxLog, "10.20.9.%d - - [%s] \"GET /pay HTTP/1.1\" %d %d\n", 3+i%9, after(i*150).Format("02/Jan/2006:15:04:05 +0000"), status, 180+i%40)
	}
}

func formatChangedCalmly(f files) {
	defer gzipped(f, nginxLog)
	for i := range 6000 {
		nginx(f, nginxLog, after(i*100-600_000), fmt.Sprintf("GET /prices/%d", 100+i%40), 200, 0.012, "prices", "10.20.60.21:8080", "200", "0.012", requestID(i%97))
	}
	for i := range 400 {
		nginxJSON(f, i*150, fmt.Sprintf("/prices/%d", 100+i%40), 200, 0.01+float64(spread(i, 20))/1000)
	}
}
