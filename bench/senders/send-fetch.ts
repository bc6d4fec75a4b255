// Sends captures with Node's fetch: `send-fetch.ts URL COUNT BYTES`.
import process from 'node:process';

const [url = '', count = '0', bytes = '0'] = process.argv.slice(2);
const body = JSON.stringify({ data: 'x'.repeat(Number(bytes)) });
for (let nth = 0; nth < Number(count); nth += 1) {
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  if (!response.ok) throw new Error(`A capture was answered with ${response.status}.`);
  await response.arrayBuffer();
}
