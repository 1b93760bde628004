package scenario

// All is the table. Its order matters only for which scenarios have a second
// capture: every third.
var All = []Scenario{
	{"missing-index", "The stock table lost its index: each read scans two million rows, attempts time out after a second and are made three times, and the products' workers fill up; categories from memory are refused too.", missingIndex},
	{"slow-method", "A provider's method sleeps three seconds without any SQL; consumers give up after one and try three times. Nothing below the retries can be seen but the sleep.", slowMethod},
	{"two-layers", "nginx tries a second time what the order service already tried three times: six attempts for one request.", twoLayers},
	{"slow-sql-no-retries", "The stock table lost its index and nobody retries: slow statements fill the products' workers, nothing is amplified.", slowSQLWithoutRetries},
	{"row-lock", "A batch job holds the rows of the hottest SKUs: every order waits for its row until InnoDB gives up.", rowLock},
	{"hikari-small", "The database is a region away, each statement takes a round trip of 120 ms, and HikariCP has two connections: workers wait for connections, statements are fast.", hikariSmall},
	{"druid-small", "As hikari-small, with Druid and Dubbo 2.7.", druidSmall},
	{"hot-lock", "One monitor guards the price: calls go one by one.", hotLock},
	{"vendor-hang", "The vendor's HTTP service takes connections and does not answer; the client waits thirty seconds.", vendorHang},
	{"gc-pressure", "Prices keep what they allocate and the heap is small: collections stop the products again and again.", gcPressure},
	{"cpu-burn", "Pricing got expensive: there are not enough processors for the calls.", cpuBurn},
	{"one-slow-provider", "One of two products sleeps three seconds in price; failover sends what timed out there to the other.", oneSlowProvider},
	{"router-one", "All calls got a tag that only one of three products has: it is full, the others idle.", routerOne},
	{"router-none", "All calls got a tag that must match, and no product has it.", routerNone},
	{"skew-by-weight", "Weights give one of two products nearly all calls: it is full, the other idles.", skewByWeight},
	{"burst", "Four times the requests for some seconds, without any fault; everything has room.", burst},
	{"duplicate-writes", "Deducting stock takes longer than its timeout, and is retried: each attempt books the order again.", duplicateWrites},
	{"metastable", "Products were slow for five seconds. Since then queues are full of attempts whose callers have left, and retries keep them full.", metastable},
	{"go-pool", "A dubbo-go provider has four database connections for statements with a round trip of 120 ms: goroutines wait in database/sql.", goPool},
	{"postgres-missing-index", "As missing-index, with PostgreSQL: each read is a sequential scan of two million rows.", postgresMissingIndex},
}
