package correlate

import (
	"testing"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// A Kafka consumer that polls in the user's own thread has nothing to do; one
// that commits or a producer that sends waits for the broker.
func TestClassifyKafka(t *testing.T) {
	selector := []string{"sun.nio.ch.EPollArrayWrapper.epollWait", "sun.nio.ch.SelectorImpl.lockAndDoSelect", "org.apache.kafka.common.network.Selector.select", "org.apache.kafka.clients.NetworkClient.poll"}
	for _, c := range []struct {
		name string
		own  []string
		want incident.WaitKind
	}{
		{"1.x", []string{"org.apache.kafka.clients.consumer.internals.ConsumerNetworkClient.poll", "org.apache.kafka.clients.consumer.KafkaConsumer.poll", "com.acme.mq.Puller.run"}, incident.WaitIdle},
		{"0.10", []string{"org.apache.kafka.clients.consumer.KafkaConsumer.poll", "com.acme.mq.Puller.run"}, incident.WaitIdle},
		{"producer", []string{"org.apache.kafka.clients.producer.KafkaProducer.waitOnMetadata", "com.acme.mq.Push.send"}, incident.WaitMQ},
		{"admin", []string{"org.apache.kafka.clients.admin.KafkaAdminClient.listTopics", "com.acme.mq.Push.send"}, incident.WaitMQ},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &evidence.Stack{State: evidence.StateRunnable}
			for _, f := range append(append([]string(nil), selector...), c.own...) {
				s.Frames = append(s.Frames, &evidence.Frame{Func: f})
			}
			if got := classify(s); got.kind != c.want {
				t.Errorf("%s, want %s", got.kind, c.want)
			}
		})
	}
}
