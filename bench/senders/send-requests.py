# Sends captures with the requests library: `send-requests.py URL COUNT BYTES`.
import sys

import requests

url, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
session = requests.Session()
for _ in range(count):
    session.post(url, json={"data": "x" * size}).raise_for_status()
