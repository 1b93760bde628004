package com.acme.shop;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;

final class Redis {
    static Object stand() throws Exception {
        int port = Stand.proxy(Stand.REDIS);
        JedisPoolConfig one = new JedisPoolConfig();
        one.setMaxTotal(1);
        JedisPool pool = new JedisPool(one, "127.0.0.1", port, 600000);
        Stand.keep.add(pool.getResource());
        Stand.on("redis/jedis-borrow/1", () -> pool.getResource());
        Jedis jedis = new Jedis("127.0.0.1", port, 600000);
        jedis.ping();
        Stand.on("redis/jedis/1", () -> { Stand.afterFreeze(); return jedis.get("price"); });
        Stand.on("redis/jedis-connect/1", () -> new Jedis("127.0.0.1", Stand.silent(), 600000).get("price"));
        Stand.on("idle/jedis-blpop/1", () -> new Jedis("127.0.0.1", Integer.parseInt(Stand.REDIS.split(":")[1]), 600000).blpop(0, "nothing"));
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + port + "?timeout=600s");
        RedisCommands<String, String> lettuce = client.connect().sync();
        Stand.on("redis/lettuce/1", () -> { Stand.afterFreeze(); return lettuce.get("price"); });
        Stand.on("redis/lettuce-connect/1", () -> RedisClient.create("redis://127.0.0.1:" + Stand.silent() + "?timeout=600s").connect());
        Config c = new Config();
        c.useSingleServer().setAddress("redis://127.0.0.1:" + port).setTimeout(600000).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4).setSubscriptionConnectionPoolSize(2);
        RedissonClient redisson = Redisson.create(c);
        Config direct = new Config();
        direct.useSingleServer().setAddress("redis://" + Stand.REDIS).setConnectionMinimumIdleSize(1).setConnectionPoolSize(4).setSubscriptionConnectionPoolSize(2);
        String order = "order-" + ProcessHandle.current().pid();
        RedissonClient locks = Redisson.create(direct);
        locks.getLock(order).lock(600, java.util.concurrent.TimeUnit.SECONDS);
        Stand.on("lock/redisson/1", () -> { locks.getLock(order).lock(); return null; });
        Stand.on("lock/redisson-try/1", () -> locks.getLock(order).tryLock(600, 600, java.util.concurrent.TimeUnit.SECONDS));
        Stand.on("redis/redisson/1", () -> { Stand.afterFreeze(); return redisson.getBucket("price").get(); });
        return null;
    }
}
