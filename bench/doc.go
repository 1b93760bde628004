// Package bench measures what taking in spans costs; README.md says how.
package bench
