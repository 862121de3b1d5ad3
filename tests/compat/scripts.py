"""What people write in each language to fetch something through a proxy.

Arguments: https URL, http URL, proxy's address and port ("" without one), CA file, host, port. Each prints what it got,
or what its library says of the failure, and then exits with 1.
"""

URLLIB = """
import sys, urllib.request
for url in sys.argv[1:3]:
    print(urllib.request.urlopen(url, timeout=30).read().decode())
"""

HTTP_CLIENT = """
import http.client, ssl, sys
_, _, proxy, port, ca, host, target = sys.argv[1:]
made = http.client.HTTPSConnection(proxy or host, int(port or target), timeout=30,
                                   context=ssl.create_default_context(cafile=ca))
if proxy:
    made.set_tunnel(host, int(target))
made.request("GET", "/x")
print(made.getresponse().read().decode())
"""

WEBSOCKET = """
import http.client, ssl, sys
_, _, proxy, port, ca, host, target = sys.argv[1:]
made = http.client.HTTPSConnection(proxy or host, int(port or target), timeout=30,
                                   context=ssl.create_default_context(cafile=ca))
if proxy:
    made.set_tunnel(host, int(target))
made.connect()
made.sock.sendall(b"GET /ws HTTP/1.1\\r\\nHost: %s\\r\\nUpgrade: websocket\\r\\n"
                  b"Connection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\n"
                  b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n" % host.encode())
head = b""
while b"\\r\\n\\r\\n" not in head:
    head += made.sock.recv(1)
assert head.startswith(b"HTTP/1.1 101"), head
made.sock.sendall(b"\\x81\\x82abcd" + bytes(a ^ b for a, b in zip(b"hi", b"ab")))
frame = b""
while len(frame) < 20:
    frame += made.sock.recv(4096)
print(frame[2:].decode())
"""

REQUESTS = """
import requests, sys
for url in sys.argv[1:3]:
    answer = requests.get(url, timeout=30)
    answer.raise_for_status()
    print(answer.text)
"""

HTTPX = """
import httpx, sys
for url in sys.argv[1:3]:
    answer = httpx.get(url, timeout=30, verify=sys.argv[5])
    answer.raise_for_status()
    print(answer.text)
"""

AIOHTTP = """
import aiohttp, asyncio, ssl, sys
async def main():
    trusted = ssl.create_default_context(cafile=sys.argv[5])
    async with aiohttp.ClientSession(trust_env=True, raise_for_status=True) as session:
        for url in sys.argv[1:3]:
            async with session.get(url, ssl=trusted) as answer:
                print(await answer.text())
asyncio.run(main())
"""

LWP = """
my $agent = LWP::UserAgent->new(env_proxy => 1, timeout => 30);
for my $url (@ARGV[0, 1]) {
  my $answer = $agent->get($url);
  die $answer->status_line unless $answer->is_success;
  print $answer->decoded_content;
}
"""

RUBY = """
_, _, proxy, port, ca, host, target = ARGV
made = Net::HTTP.new(host, target.to_i, proxy.empty? ? nil : proxy, port.to_i)
made.use_ssl = true
made.ca_file = ca
puts made.get("/x").body
"""

PHP = """
[, $url, , $proxy, $port, $ca] = $argv;
$through = $proxy == "" ? [] : ["proxy" => "tcp://$proxy:$port", "request_fulluri" => false];
$context = stream_context_create([
  "http" => $through + ["timeout" => 30],
  "ssl" => ["cafile" => $ca]]);
$body = file_get_contents($url, false, $context);
if ($body === false) exit(1);
print $body;
"""

NODE = """
const http = require("http"), https = require("https"), tls = require("tls");
const [, , proxy, port, , host, target] = process.argv.slice(1);
const show = (got) => {
  got.on("data", (data) => process.stdout.write(data)).on("end", () => process.exit(0));
};
const through = (answer, socket) => {
  if (answer.statusCode !== 200) {
    console.error(`${answer.statusCode} ${answer.statusMessage}`);
    process.exit(1);
  }
  const secure = tls.connect({socket, servername: host}, () => {
    http.get({host, path: "/x", createConnection: () => secure}, show);
  });
};
const ask = proxy
  ? http.request({host: proxy, port, method: "CONNECT", path: `${host}:${target}`}).on("connect", through)
  : https.get({host, port: target, path: "/x"}, show);
ask.on("error", (error) => { console.error(error.message); process.exit(1); }).end();
"""

# Proxy's address and port, host, port, then a client that knows no proxy; PORT in it is socat's.
BEHIND_SOCAT = """
import socket, subprocess, sys
proxy, proxyport, host, port, *command = sys.argv[1:]
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    here = probe.getsockname()[1]
relay = subprocess.Popen(["socat", "-d", "-d", f"TCP-LISTEN:{here},bind=127.0.0.1,reuseaddr",
                          f"PROXY:{proxy}:{host}:{port},proxyport={proxyport}"],
                         stderr=subprocess.PIPE, text=True)
while "listening on" not in relay.stderr.readline():
    pass
done = subprocess.run([part.replace("PORT", str(here)) for part in command], timeout=30)
relay.terminate()
print(*(line.split("] ")[-1] for line in relay.stderr if " E " in line), file=sys.stderr)
sys.exit(done.returncode)
"""
