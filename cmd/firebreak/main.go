// Command firebreak tells an on-call engineer why an RPC fleet is burning, from
// the evidence that the incident left behind.
package main

import (
	"os"
	_ "time/tzdata" // zones by name, also where the system has none
)

func main() { os.Exit(newApp(analyse).run(os.Args[1:])) }
