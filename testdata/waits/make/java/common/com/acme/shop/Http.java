package com.acme.shop;

import java.net.HttpURLConnection;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import feign.Feign;
import feign.RequestLine;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import org.springframework.web.client.RestTemplate;

final class Http {
    interface Prices {
        @RequestLine("GET /price")
        String price();
    }

    static Object stand() throws Exception {
        String url = "http://127.0.0.1:" + Stand.silent() + "/price";
        Stand.on("http/url-connection/1", () -> ((HttpURLConnection) new URL(url).openConnection()).getResponseCode());
        Stand.on("http/url-stream/1", () -> new URL(url).openStream());
        Stand.on("http/jdk-client/1", () -> HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString()));
        Stand.on("condition/jdk-client-async/1", () -> HttpClient.newHttpClient().sendAsync(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString()).join());
        OkHttpClient ok = new OkHttpClient.Builder().readTimeout(java.time.Duration.ZERO).build();
        Stand.on("http/okhttp/1", () -> ok.newCall(new Request.Builder().url(url).build()).execute());
        Stand.on("http/rest-template/1", () -> new RestTemplate().getForObject(url, String.class));
        Prices prices = Feign.builder().options(new feign.Request.Options(600000, 600000)).target(Prices.class, url.replace("/price", ""));
        Stand.on("http/feign/1", () -> prices.price());
        Stand.on("http/own-socket/1", () -> new Socket("127.0.0.1", URI.create(url).getPort()).getInputStream().read());
        String tls = url.replace("http:", "https:");
        Stand.on("http/url-connection-tls/1", () -> ((HttpURLConnection) new URL(tls).openConnection()).getResponseCode());
        Stand.on("http/okhttp-tls/1", () -> ok.newCall(new Request.Builder().url(tls).build()).execute());
        return null;
    }
}
