# Sends captures with Python's http.client: `send-http-client.py URL COUNT BYTES`.
import http.client
import json
import sys
from urllib.parse import urlsplit

url, count, size = urlsplit(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
connection = http.client.HTTPConnection(url.hostname, url.port)
body = json.dumps({"data": "x" * size})
for _ in range(count):
    connection.request("POST", url.path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        sys.exit(f"A capture was answered with {response.status}.")
