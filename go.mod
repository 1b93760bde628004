module github.com/firebreak-io/firebreak

go 1.26.7
