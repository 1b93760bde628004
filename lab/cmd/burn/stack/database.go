package stack

import "context"

// Database is where the products of a run read and write the stock.
type Database interface {
	// Query runs a statement as the administrator and gives what the client printed.
	Query(ctx context.Context, sql string) (string, error)
	// Session is a statement and its answer as they stand on an engineer's screen.
	Session(ctx context.Context, sql string) (string, error)
	// Number runs a statement that gives one number.
	Number(ctx context.Context, sql string) (int64, error)
	// Looks are the statements that tell what the database is doing.
	Looks() []Look
	// SlowLog is the file that gets slow statements.
	SlowLog() string
	// DropIndex takes away the index of the stock table: the fault "missing index".
	DropIndex(ctx context.Context) error
	// AddIndex brings it back, ending the scans that would make it wait.
	AddIndex(ctx context.Context) error
	// EmptyLog forgets the orders of earlier runs.
	EmptyLog(ctx context.Context) error

	jdbc(port int) string // URL
	port() int
}

// Look is a statement and the file that gets its answer.
type Look struct{ File, SQL string }

// Database is the one of the present run.
func (s *Stack) Database() Database {
	if s.usesPostgres {
		return s.postgres
	}
	return s.DB
}
