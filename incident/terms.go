package incident

import (
	"github.com/firebreak-io/firebreak/lang"
)

// Term is a word of the report that is neither a label nor a kind of finding.
type Term struct {
	Name  string
	Means string
	Says  string // how to take it
}

// TermGroup is terms of one sort.
type TermGroup struct {
	Title string
	Terms []Term
}

// Terms lists the other words of the report by their sort, in the language in use.
func Terms() []TermGroup {
	groups := terms()
	for i := range groups {
		g := &groups[i]
		g.Title = lang.T(g.Title)
		for j := range g.Terms {
			t := &g.Terms[j]
			t.Means, t.Says = lang.T(t.Means), lang.T(t.Says)
		}
	}
	return groups
}

func terms() []TermGroup {
	return []TermGroup{
		{"Roles in the chain", []Term{
			{string(Trigger), "What began it: the lowest link that the evidence supports. The incident has its label.", "Repair this to end the incident; it need not be what to act on first."},
			{string(Amplifier), "What made it worse: it multiplies the load of a trigger, and goes on burning after the trigger is gone.", "Cutting it is quick and can be undone, so it is usually acted on first."},
			{string(Victim), "What broke because of the links before it. It is what people see and complain about.", "Repairing a victim (a larger pool, a restart) hides the trigger and seldom helps for long."},
		}},
		{"Certainties", []Term{
			{string(High), "Over incidents with known answers, right nineteen times in twenty: several independent kinds of evidence show the label, and nothing contradicts it.", "Act on it."},
			{string(Medium), "Right three times in four: the evidence shows the label, but one kind is missing or something speaks against it.", "Do what can be undone, and collect what the report lists as missing."},
			{string(Low), "A lead, not a verdict.", "Collect what the report lists as missing, while it still burns."},
		}},
		{"What is counted of calls", []Term{
			{"amplification", "Attempts / logical calls of one edge, a ratio of sums; over a path the product of its edges'.", "1.0 is no retries; near the ceiling nearly every call uses up its retries. peak is the same while there were retries."},
			{"ceiling", "1 + retries: the most attempts that a call may make, as configured or as the largest seen.", "Amplification close to it means that retries help nobody."},
			{"ok-at-once", "Calls whose first attempt succeeded.", "The healthy part."},
			{"ok-after-retry", "Calls that a retry saved.", "Only these lose if retries are cut."},
			{"exhausted", "Calls all whose attempts failed.", "Each cost as many attempts as the ceiling, for nothing."},
			{"timed-out", "Calls of one attempt, which timed out.", "A timeout is not a cancellation: the provider may still work on it."},
			{"not-retryable", "Calls that ended with an error that another attempt would not mend, as a business exception.", "No sign of overload by itself."},
			{"budget-exhausted", "Calls not sent again because a retry budget was used up.", "The budget does its work."},
			{"abandoned", "Calls whose caller had given up while the provider went on working.", "Orphaned work: it takes workers from calls that somebody waits for."},
			{"orphaned work", "Provider time spent after the caller had given up, a lower bound from durations.", "Cutting retries or shortening the provider's own timeouts gives it back."},
			{"candidates", "How many providers were left after each stage of routing.", "Few of many: routing made it worse."},
		}},
		{"What threads wait for", []Term{
			{string(WaitDBRead), "A driver waits for a database's answer.", "Counted as " + string(StackDBRead) + "."},
			{string(WaitDBPool), "A thread waits to borrow a database connection.", "Counted as " + string(StackDBPool) + ". What the holders do is what matters."},
			{string(WaitRedis), "A client waits for Redis, or for a connection to it.", "Counted as " + string(StackRedis) + "."},
			{string(WaitHTTP), "A client waits for an HTTP answer.", "Counted as " + string(StackHTTP) + "."},
			{string(WaitRPC), "A client waits for the answer of a remote call (Dubbo, gRPC, Thrift and the like).", "Counted as " + string(StackRPC) + "."},
			{string(WaitMQ), "A thread waits for a message broker.", "Counted as " + string(StackMQ) + "."},
			{string(WaitLock), "A thread waits for a monitor or lock that another thread holds.", "Counted as " + string(StackLock) + "; its owner is named where the dump tells."},
			{string(WaitCondition), "A thread waits for a condition, a latch or the result of another task.", "Counted as " + string(StackCondition) + ". A worker parked at its own empty queue is idle instead."},
			{string(WaitDisk), "A thread reads, writes or forces a file.", "Counted as " + string(StackDisk) + "."},
			{string(WaitDNS), "A thread resolves a name.", "Counted as " + string(StackDNS) + "."},
			{string(WaitLogging), "A thread waits to write a log line.", "Counted as " + string(StackLogging) + "."},
			{string(WaitClassInit), "A thread waits for a class that another thread initialises.", "Counted as " + string(StackClassInit) + "."},
			{string(WaitGC), "A thread stands still for the garbage collector.", "Counted as " + string(StackGC) + "."},
			{string(WaitCPU), "A thread runs, or is ready to.", "Counted as " + string(StackCPU) + "; a socket read that Java calls RUNNABLE is not one of them."},
			{string(WaitIdle), "A worker waits for work.", "Never trouble; counted as " + string(StackIdle) + " where most of a pool does."},
			{string(WaitOther), "It waits for something that was not recognised.", "Counted as " + string(StackOther) + ". Its frames stand in the JSON, under stacks."},
		}},
	}
}
