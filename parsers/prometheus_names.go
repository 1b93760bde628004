package parsers

import "github.com/firebreak-io/firebreak/evidence"

// promField is what one family says.
type promField int8

const (
	promMax promField = iota
	promActive
	promIdle
	promSize
	promWaiting
	promQueued
	promLargest
	promCompleted // tasks, a counter
	promRefused   // refusals and borrowers that gave up, a counter
	promFree      // what is left of Max
	promWaits     // borrowers that waited, a counter
	promWaitTime  // seconds that they waited together, a counter
	promFieldsOfPools

	promCalls          // logical calls
	promAttempts       // what was sent for them
	promRetries        // attempts that were retries
	promCallsAgain     // calls that were retried, by the label kind
	promFailed         // attempts or calls that failed
	promTimeouts       // attempts that timed out
	promRetriesRefused // retries that a budget or a limit forbade
	promOverflow       // attempts that a full queue or pool refused
	promFailedParts    // attempts or calls that failed, where several families or series make the sum
	promTook           // time that all of them took, in the family's unit
	promCoded          // attempts, by a label that says how they ended
	promFieldsOfCalls

	promCPU       // share of all cores
	promPause     // longest pause, seconds
	promPeriods   // periods of a CPU quota
	promThrottled // of these, throttled
	promBegan     // when the process started, seconds since 1970
	promBreaker   // by the label state: 1 in the one that it is in
)

// promFamily says what a family of metrics means, and by which labels its series
// are told apart.
type promFamily struct {
	impl     string
	kind     evidence.PoolKind
	resource string
	field    promField
	name     []string // labels that name the pool or the service; the first that is there
	method   string   // label of the method
	side     evidence.Side
	unlisted bool // recognised by its name's end
}

// promFamilyOf returns what is known of a sample's or a family's name; nil if it
// is of no use.
func promFamilyOf(name []byte) *promFamily {
	if f := promFamilies[string(name)]; f != nil {
		return f
	}
	return promUnlisted(name)
}

var promFamilies = func() map[string]*promFamily {
	m := map[string]*promFamily{}
	pools := func(impl string, kind evidence.PoolKind, resource string, labels []string, names map[string]promField) {
		for n, f := range names {
			m[n] = &promFamily{impl: impl, kind: kind, resource: resource, field: f, name: labels}
		}
	}
	calls := func(impl string, side evidence.Side, labels []string, method string, names map[string]promField) {
		for n, f := range names {
			m[n] = &promFamily{impl: impl, field: f, name: labels, method: method, side: side}
		}
	}
	thread, conn := evidence.ThreadPool, evidence.ConnectionPool
	pool := []string{"pool", "pool_name", "poolName"}
	name := []string{"name", "pool", "datasource", "dataSource", "dataSourceName"}

	pools("hikari", conn, "db", pool, map[string]promField{
		"hikaricp_connections": promSize, "hikaricp_connections_active": promActive, "hikaricp_connections_idle": promIdle,
		"hikaricp_connections_pending": promWaiting, "hikaricp_connections_max": promMax, "hikaricp_connections_timeout_total": promRefused,
		// HikariCP's own tracker for the Prometheus client.
		"hikaricp_active_connections": promActive, "hikaricp_idle_connections": promIdle, "hikaricp_pending_threads": promWaiting,
		"hikaricp_max_connections": promMax, "hikaricp_connection_timeout_total": promRefused,
	})
	pools("jdbc", conn, "db", name, map[string]promField{
		"jdbc_connections_active": promActive, "jdbc_connections_idle": promIdle, "jdbc_connections_max": promMax,
	})
	pools("druid", conn, "db", name, map[string]promField{
		"druid_active_count": promActive, "druid_max_active": promMax, "druid_pooling_count": promIdle,
		"druid_wait_thread_count": promWaiting, "druid_wait_count": promWaiting,
		"druid_connections_active": promActive, "druid_connections_max": promMax, "druid_connections_idle": promIdle, "druid_connections_wait": promWaiting,
	})
	pools("go-sql", conn, "db", []string{"db_name", "db"}, map[string]promField{
		"go_sql_max_open_connections": promMax, "go_sql_in_use_connections": promActive, "go_sql_idle_connections": promIdle, "go_sql_open_connections": promSize,
		"go_sql_wait_count_total": promWaits, "go_sql_wait_duration_seconds_total": promWaitTime,
		"go_sql_stats_connections_waited_for": promWaits, "go_sql_stats_connections_blocked_seconds": promWaitTime,
		"go_sql_stats_connections_waited_for_total": promWaits, "go_sql_stats_connections_blocked_seconds_total": promWaitTime,
		"go_sql_stats_connections_max_open": promMax, "go_sql_stats_connections_in_use": promActive, "go_sql_stats_connections_idle": promIdle, "go_sql_stats_connections_open": promSize,
	})
	pools("pgx", conn, "db", []string{"db", "name", "database"}, map[string]promField{
		"pgxpool_max_conns": promMax, "pgxpool_acquired_conns": promActive, "pgxpool_idle_conns": promIdle, "pgxpool_total_conns": promSize,
		"pgxpool_empty_acquire": promWaits, "pgxpool_empty_acquire_count": promWaits,
	})
	pools("http", conn, "http", []string{"name", "httpclient"}, map[string]promField{
		"httpcomponents_httpclient_pool_total_max": promMax, "httpcomponents_httpclient_pool_total_pending": promWaiting,
	})
	pools("tomcat", thread, "", name, map[string]promField{
		"tomcat_threads_busy_threads": promActive, "tomcat_threads_current_threads": promSize, "tomcat_threads_config_max_threads": promMax,
		"tomcat_threadpool_currentthreadsbusy": promActive, "tomcat_threadpool_currentthreadcount": promSize, "tomcat_threadpool_maxthreads": promMax,
	})
	pools("jetty", thread, "", name, map[string]promField{
		"jetty_threads_busy": promActive, "jetty_threads_current": promSize, "jetty_threads_idle": promIdle, "jetty_threads_config_max": promMax, "jetty_threads_jobs": promQueued,
	})
	pools("jdk", thread, "", name, map[string]promField{
		"executor_active_threads": promActive, "executor_pool_size_threads": promSize, "executor_pool_max_threads": promMax,
		"executor_queued_tasks": promQueued, "executor_completed_tasks_total": promCompleted,
	})
	pools("dubbo", thread, "", []string{"thread_pool_name"}, map[string]promField{
		"dubbo_thread_pool_active_size": promActive, "dubbo_thread_pool_max_size": promMax, "dubbo_thread_pool_thread_count": promSize,
		"dubbo_thread_pool_largest_size": promLargest, "dubbo_thread_pool_queue_size": promQueued, "dubbo_thread_pool_reject_thread_count": promRefused,
	})
	pools("resilience4j", thread, "", name, map[string]promField{
		"resilience4j_bulkhead_max_allowed_concurrent_calls": promMax, "resilience4j_bulkhead_available_concurrent_calls": promFree,
		"resilience4j_bulkhead_max_thread_pool_size": promMax, "resilience4j_bulkhead_active_thread_count": promActive,
		"resilience4j_bulkhead_thread_pool_size": promSize, "resilience4j_bulkhead_queue_depth": promQueued,
	})

	dubbo := []string{"interface"}
	for field, names := range map[promField][]string{
		promAttempts: {"dubbo_%s_requests_total"},
		promFailed:   {"dubbo_%s_requests_failed_total"},
		promTimeouts: {"dubbo_%s_requests_timeout_total", "dubbo_%s_requests_timeout_failed_total"},
	} {
		for _, n := range names {
			before, after := n[:len("dubbo_")], n[len("dubbo_%s"):]
			calls("dubbo", evidence.Consumer, dubbo, "method", map[string]promField{before + "consumer" + after: field})
			calls("dubbo", evidence.Provider, dubbo, "method", map[string]promField{before + "provider" + after: field})
		}
	}
	calls("envoy", evidence.Consumer, []string{"envoy_cluster_name", "cluster_name"}, "", map[string]promField{
		"envoy_cluster_upstream_rq_total": promAttempts, "envoy_cluster_upstream_rq_retry": promRetries, "envoy_cluster_upstream_rq_timeout": promTimeouts,
		"envoy_cluster_upstream_rq_retry_overflow": promRetriesRefused, "envoy_cluster_upstream_rq_retry_limit_exceeded": promFailed,
		"envoy_cluster_upstream_rq_pending_overflow": promOverflow,
	})
	calls("linkerd", evidence.Consumer, []string{"dst", "authority"}, "rt_route", map[string]promField{
		"route_request_total": promCalls, "route_actual_request_total": promAttempts,
	})
	calls("grpc", evidence.Consumer, []string{"grpc_target"}, "grpc_method", map[string]promField{
		"grpc_client_attempt_started_total": promAttempts, "grpc_client_attempt_started": promAttempts, "grpc_client_call_duration_seconds_count": promCalls,
	})
	calls("resilience4j", evidence.Consumer, []string{"name"}, "", map[string]promField{
		"resilience4j_retry_calls_total": promCallsAgain,
	})

	promRequestFamilies(m)

	for n, f := range map[string]promField{
		"system_cpu_usage": promCPU, "process_start_time_seconds": promBegan, "jvm_gc_pause_seconds_max": promPause, "resilience4j_circuitbreaker_state": promBreaker,
		"container_cpu_cfs_periods_total": promPeriods, "container_cpu_cfs_throttled_periods_total": promThrottled,
	} {
		m[n] = &promFamily{field: f}
	}
	return m
}()
