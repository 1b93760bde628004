module github.com/firebreak-io/firebreak

go 1.26.7

require (
	github.com/google/pprof v0.0.0-20261105003125-4bf881d7fb0b
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	golang.org/x/text v0.44.0
)

require (
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/term v0.48.0 // indirect
)
