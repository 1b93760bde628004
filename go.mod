module github.com/firebreak-io/firebreak

go 1.26.7

require (
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	golang.org/x/text v0.44.0 // indirect
)
