#!/bin/bash
# Makes the nginx-*.log samples with a real nginx (Debian's 1.22 was used).
# Needs root for the addresses 10.20.0.11 to .13 on the loopback interface.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d); chmod 755 "$dir"
for n in 11 12 13; do ip addr add 10.20.0.$n/32 dev lo 2>/dev/null || true; done
cat > "$dir/nginx.conf" <<CONF
daemon on; pid $dir/pid; error_log $dir/error.log; worker_processes 1;
events { worker_connections 256; }
http {
  client_body_temp_path $dir/b; proxy_temp_path $dir/p; fastcgi_temp_path $dir/f; uwsgi_temp_path $dir/u; scgi_temp_path $dir/s;
  log_format timing '\$remote_addr - \$remote_user [\$time_local] "\$request" \$status \$body_bytes_sent "\$http_referer" "\$http_user_agent" '
    'rt=\$request_time uct="\$upstream_connect_time" uht="\$upstream_header_time" urt="\$upstream_response_time" ua="\$upstream_addr" us="\$upstream_status" rid=\$request_id';
  log_format bare '\$remote_addr - \$remote_user [\$time_local] "\$request" \$status \$body_bytes_sent "\$http_referer" "\$http_user_agent" \$request_time \$upstream_response_time';
  log_format k8s '\$remote_addr - \$remote_user [\$time_local] "\$request" \$status \$body_bytes_sent "\$http_referer" "\$http_user_agent" \$request_length \$request_time [\$proxy_host] [] \$upstream_addr \$upstream_response_length \$upstream_response_time \$upstream_status \$request_id';
  log_format unnamed '\$time_iso8601 \$host "\$request" \$status "\$upstream_addr" "\$upstream_status" "\$upstream_connect_time" "\$upstream_header_time" "\$upstream_response_time" "\$request_time" "\$http_x_forwarded_for"';
  log_format piped '\$remote_addr|\$msec|\$request_method|\$request_uri|\$status|\$upstream_addr|\$upstream_status|\$upstream_response_time|\$request_time|\$http_user_agent';
  log_format ltsv 'time:\$time_iso8601	host:\$remote_addr	method:\$request_method	uri:\$request_uri	status:\$status	ua:\$http_user_agent	reqtime:\$request_time	apptime:\$upstream_response_time	upstream_addr:\$upstream_addr	upstream_status:\$upstream_status	reqid:\$request_id';
  log_format logfmt 'ts=\$time_iso8601 remote_addr=\$remote_addr method=\$request_method uri="\$request_uri" status=\$status duration=\$request_time upstream_addr="\$upstream_addr" upstream_status="\$upstream_status" upstream_time="\$upstream_response_time" request_id=\$request_id';
  log_format js escape=json '{"time":"\$time_iso8601","remote_addr":"\$remote_addr","request":"\$request","status":\$status,"request_time":\$request_time,"upstream_addr":"\$upstream_addr","upstream_status":"\$upstream_status","upstream_response_time":"\$upstream_response_time","upstream_connect_time":"\$upstream_connect_time","traceparent":"\$http_traceparent","request_id":"\$request_id","http_user_agent":"\$http_user_agent"}';
  log_format jsnum escape=json '{"msec":\$msec,"client_ip":"\$remote_addr","method":"\$request_method","path":"\$uri","args":"\$args","code":\$status,"rt":\$request_time,"upstream":"\$upstream_addr","urt":\$upstream_response_time,"us":\$upstream_status}';
  access_log $dir/timing.log timing; access_log $dir/bare.log bare; access_log $dir/ingress.log k8s; access_log $dir/unnamed.log unnamed;
  access_log $dir/piped.log piped; access_log $dir/ltsv.log ltsv; access_log $dir/logfmt.log logfmt; access_log $dir/json.log js; access_log $dir/json-unquoted.log jsnum; access_log $dir/combined.log combined;
  limit_req_zone \$server_name zone=z:1m rate=1r/s;
  upstream stock { server 10.20.0.11:18080 max_fails=0; server 10.20.0.12:18080 max_fails=0; server 10.20.0.13:18080 max_fails=0; }
  upstream price { server 10.20.0.11:18080 max_fails=1 fail_timeout=60; server 10.20.0.13:18099 max_fails=1 fail_timeout=60; }
  server { listen 10.20.0.11:18080; access_log off; location / { return 503; } }
  server { listen 10.20.0.12:18080; access_log off; location / { proxy_pass http://10.20.0.13:18081; } }
  server { listen 10.20.0.13:18080; access_log off; location /slow { limit_rate 40; root $dir/www; } location / { root $dir/www; try_files /ok.txt =404; } }
  server { listen 127.0.0.1:18000; server_name shop.example;
    proxy_read_timeout 150ms; proxy_connect_timeout 100ms; proxy_next_upstream error timeout http_503; proxy_next_upstream_tries 3;
    location = /static { return 204; }
    location /stock { proxy_pass http://stock; }
    location /price { proxy_pass http://price; proxy_next_upstream error timeout http_503; }
    location /moved { return 302 /stock; }
    location /fallback { proxy_pass http://10.20.0.11:18080; proxy_intercept_errors on; error_page 503 = @other; proxy_next_upstream off; }
    location @other { proxy_pass http://10.20.0.13:18080; }
    location /slow { proxy_pass http://10.20.0.13:18080; proxy_read_timeout 5s; proxy_buffering off; }
    location /lim { limit_req zone=z; limit_req_status 503; proxy_pass http://10.20.0.13:18080; }
  }
}
CONF
mkdir -p "$dir/www/slow"; printf 'in stock\n' > "$dir/www/ok.txt"; head -c 60 /dev/zero | tr '\0' x > "$dir/www/slow/x"
python3 - <<'PY' &
import socket,threading
s=socket.socket(); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1); s.bind(("10.20.0.13",18081)); s.listen(64); s.settimeout(25)
keep=[]
try:
    while True: keep.append(s.accept())  # never answers
except Exception: pass
PY
silent=$!
sleep 0.5
nginx -c "$dir/nginx.conf"
c() { curl -s -o /dev/null -A "checkout-api/2.1 (test)" "$@" || true; }
for i in $(seq 1 9); do c "http://127.0.0.1:18000/stock/item?sku=S-$i" -H 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'; done
c http://127.0.0.1:18000/static; c http://127.0.0.1:18000/moved; c http://127.0.0.1:18000/fallback/a
c -X POST -d a=b http://127.0.0.1:18000/stock/reserve
c http://127.0.0.1:18000/price; c http://127.0.0.1:18000/price; c http://127.0.0.1:18000/price
c http://127.0.0.1:18000/lim; c http://127.0.0.1:18000/lim; c http://127.0.0.1:18000/slow/x
c -m 0.05 http://127.0.0.1:18000/stock/x; c -m 0.05 http://127.0.0.1:18000/stock/y; c -m 0.05 http://127.0.0.1:18000/stock/z
c 'http://127.0.0.1:18000/stock?q=%22x' -A 'a"b\c é'
for raw in 'GARBAGE\r\n\r\n' '\x16\x03\x01\x02\x00\r\n\r\n'; do
  exec 3<>/dev/tcp/127.0.0.1/18000; printf "$raw" >&3; timeout 1 cat <&3 >/dev/null || true; exec 3>&-
done
nginx -c "$dir/nginx.conf" -s quit
sleep 1
kill $silent 2>/dev/null || true
for f in "$dir"/*.log; do cp "$f" "$out/nginx-1.22-$(basename "$f")"; done
rm -rf "$dir"
