package collector

import "github.com/firebreak-io/firebreak/parsers"

func hintOf(path string) parsers.Hint { return parsers.Hint{} }
