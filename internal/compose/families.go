package main

// families lists the incidents, a family for each file.
func families() [][]composed {
	return [][]composed{
		{{"reference-slow-sql-retries", reference, referenceWant}},
		slowSQL,
		retries,
		pools,
		locks,
		downstream,
		routing,
		harmless,
		strangers,
		hard,
		traced,
		tracedLooks,
		tracedWaits,
		tracedSDKs,
		accessLogs,
		reloaded,
		counters,
		unknownErrors,
		judged,
		bystanders,
	}
}
