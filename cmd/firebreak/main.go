// Command firebreak tells an on-call engineer why an RPC fleet is burning.
package main

func main() {}
