package com.acme.shop;

import java.util.Properties;
import org.apache.catalina.startup.Tomcat;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.eclipse.jetty.server.Server;
import org.quartz.impl.StdSchedulerFactory;

final class Servers {
    static Object stand() throws Exception {
        Stand.section("tomcat", () -> {
            Tomcat tomcat = new Tomcat();
            tomcat.setBaseDir(Stand.DIR + "/tomcat");
            tomcat.setPort(28081);
            tomcat.getConnector();
            tomcat.addContext("", null);
            tomcat.start();
            return null;
        });
        Stand.section("jetty", () -> {
            Server jetty = new Server(28082);
            jetty.start();
            return null;
        });
        Stand.section("quartz", () -> {
            new StdSchedulerFactory().getScheduler().start();
            return null;
        });
        Stand.section("kafka", () -> {
            Properties p = new Properties();
            p.setProperty("bootstrap.servers", "127.0.0.1:" + Stand.silent());
            p.setProperty("max.block.ms", "600000");
            p.setProperty("group.id", "shop");
            p.setProperty("default.api.timeout.ms", "600000");
            for (String s : new String[] {"key", "value"}) {
                p.setProperty(s + ".serializer", "org.apache.kafka.common.serialization.StringSerializer");
                p.setProperty(s + ".deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
            }
            KafkaProducer<String, String> producer = new KafkaProducer<>(p);
            Stand.on("mq/kafka-metadata/1", () -> producer.send(new ProducerRecord<>("orders", "x")).get());
            Stand.on("idle/kafka-poll/1", () -> {
                KafkaConsumer<String, String> consumer = new KafkaConsumer<>(p);
                consumer.subscribe(java.util.List.of("orders"));
                for (;;) {
                    consumer.poll(java.time.Duration.ofSeconds(600));
                }
            });
            Stand.on("mq/kafka-partitions/1", () -> {
                KafkaConsumer<String, String> consumer = new KafkaConsumer<>(p);
                return consumer.partitionsFor("orders");
            });
            return null;
        });
        // Connections that are kept alive and say nothing.
        for (int port : new int[] {28081, 28082}) {
            Stand.section("keep-alive", () -> Stand.keep.add(new java.net.Socket("127.0.0.1", port)));
        }
        return null;
    }
}
