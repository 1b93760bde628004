#!/bin/bash
# Makes the httpd-*.log samples with a real Apache httpd (Debian's 2.4 was used)
# before a server that answers after 0 to 3 seconds.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d); chmod 755 "$dir"
python3 - <<'PY' &
import http.server,time,threading
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(float(self.path.split("=")[-1]) if "=" in self.path else 0)
        self.send_response(503 if "busy" in self.path else 200); self.send_header("Content-Length","3"); self.end_headers(); self.wfile.write(b"ok\n")
    def log_message(self,*a): pass
s=http.server.ThreadingHTTPServer(("127.0.0.1",18095),H)
threading.Timer(25,s.shutdown).start(); s.serve_forever()
PY
server=$!
m=/usr/lib/apache2/modules
cat > "$dir/h.conf" <<CONF
ServerName shop.example
ServerRoot $dir
PidFile $dir/pid
ErrorLog $dir/error.log
Listen 127.0.0.1:18280
LoadModule mpm_event_module $m/mod_mpm_event.so
LoadModule authz_core_module $m/mod_authz_core.so
LoadModule proxy_module $m/mod_proxy.so
LoadModule proxy_http_module $m/mod_proxy_http.so
LogFormat "%h %l %u %t \"%r\" %>s %b %D" commond
LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\" %D" micros
LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\" %{ms}T" millis
LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\" %T" seconds
LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\" %T/%D" both
LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" vhost
CustomLog $dir/common-micros.log commond
CustomLog $dir/micros.log micros
CustomLog $dir/millis.log millis
CustomLog $dir/seconds.log seconds
CustomLog $dir/both.log both
CustomLog $dir/vhost.log vhost
ProxyPass / http://127.0.0.1:18095/
CONF
apache2 -f "$dir/h.conf"
sleep 0.5
c() { curl -s -o /dev/null -A "checkout-api/2.1 \"test\"" "$@" || true; }
for i in 1 2 3 4 5; do
  c "http://127.0.0.1:18280/pay?wait=2.$i" & c "http://127.0.0.1:18280/pay?wait=0.$i" & c "http://127.0.0.1:18280/pay?wait=1.$i" & c "http://127.0.0.1:18280/pay?wait=3" &
  sleep 0.5
  c "http://127.0.0.1:18280/cart"; c "http://127.0.0.1:18280/busy"
done
sleep 4
kill "$(cat "$dir/pid")"; sleep 0.5; kill $server || true
for f in common-micros micros millis seconds both vhost; do cp "$dir/$f.log" "$out/httpd-2.4-$f.log"; done
rm -rf "$dir"
