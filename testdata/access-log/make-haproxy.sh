#!/bin/bash
# Makes the haproxy-*.log samples with a real HAProxy (Debian's 2.6 was used):
# one server answers 503, one never answers, one answers after 30 ms.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
for n in 11 12 13; do ip addr add 10.20.0.$n/32 dev lo 2>/dev/null || true; done
cat > "$dir/servers.py" <<'PY'
import socket,threading,time
def serve(addr, answer, wait):
    s=socket.socket(); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1); s.bind((addr,18090)); s.listen(64)
    def one(c):
        c.recv(4096)
        time.sleep(wait)
        if answer: c.sendall(("HTTP/1.1 %s\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n" % answer).encode())
        c.close()
    while True:
        c,_=s.accept(); threading.Thread(target=one,args=(c,),daemon=True).start()
for a in (("10.20.0.11","503 Busy",0),("10.20.0.12",None,20),("10.20.0.13","200 OK",0.03)):
    threading.Thread(target=serve,args=a,daemon=True).start()
time.sleep(25)
PY
python3 "$dir/servers.py" & servers=$!
cat > "$dir/log.py" <<PY
import socket
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.bind("$dir/log"); s.settimeout(20)
f=open("$dir/all.log","wb",0)
try:
    while True: f.write(s.recv(8192).rstrip(b"\n")+b"\n")
except Exception: pass
PY
python3 "$dir/log.py" & logger=$!
sleep 0.5
cat > "$dir/h.cfg" <<CONF
global
  log $dir/log format raw local0
defaults
  log global
  timeout client 3s
  timeout server 200ms
  timeout connect 150ms
  timeout queue 100ms
frontend web
  mode http
  option httplog
  bind 127.0.0.1:18180
  capture request header X-Request-Id len 40
  capture request header traceparent len 60
  http-request deny deny_status 429 if { path /deny }
  use_backend dead if { path /dead }
  use_backend queue if { path_beg /queue }
  default_backend stock
frontend plain
  mode http
  option httplog
  bind 127.0.0.1:18181
  default_backend stock
frontend tcp
  mode tcp
  option tcplog
  bind 127.0.0.1:18182
  default_backend tcpstock
backend stock
  mode http
  retries 3
  retry-on all-retryable-errors
  option redispatch 1
  balance roundrobin
  server a 10.20.0.11:18090
  server b 10.20.0.12:18090
  server c 10.20.0.13:18090
backend dead
  mode http
  retries 2
  server x 10.20.0.13:18099
backend queue
  mode http
  server c 10.20.0.13:18090 maxconn 1
backend tcpstock
  mode tcp
  server c 10.20.0.13:18090
  server x 10.20.0.13:18099 backup
CONF
haproxy -f "$dir/h.cfg" -D -p "$dir/pid"
c() { curl -s -o /dev/null -A "checkout-api/2.1" "$@" || true; }
for i in 1 2 3 4 5 6; do c "http://127.0.0.1:18180/stock?sku=S-$i" -H "X-Request-Id: req-77a$i" -H 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'; done
c http://127.0.0.1:18180/deny; c http://127.0.0.1:18180/dead
for i in 1 2 3 4 5 6 7 8; do c "http://127.0.0.1:18180/queue/$i" & done; sleep 1
c -m 0.05 http://127.0.0.1:18180/stock; c -m 0.05 http://127.0.0.1:18180/stock
for i in 1 2 3; do c "http://127.0.0.1:18181/stock?sku=S-$i"; done
for i in 1 2 3; do c "http://127.0.0.1:18182/x"; done
printf 'GARBAGE\r\n\r\n' | timeout 2 python3 -c 'import socket,sys;s=socket.create_connection(("127.0.0.1",18181));s.sendall(sys.stdin.buffer.read());s.recv(9)' || true
sleep 1
kill "$(cat "$dir/pid")"; sleep 0.5; kill $servers $logger || true
grep -E ' (web|plain)(~|) ' "$dir/all.log" > "$out/haproxy-2.6-httplog.log"
grep -E ' tcp ' "$dir/all.log" > "$out/haproxy-2.6-tcplog.log"
sed 's/^/Mar 14 09:12:33 edge-1 haproxy[4711]: /' "$out/haproxy-2.6-httplog.log" > "$out/haproxy-2.6-syslog.log"
rm -rf "$dir"
