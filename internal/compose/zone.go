package main

import "time"

var utc = time.UTC
