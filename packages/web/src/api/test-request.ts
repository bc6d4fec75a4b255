/** Sends a request to a capture URL as a third party would, without cookies. */
export async function sendTestRequest(captureUrl: string): Promise<void> {
  // The page may be open under another host than the public one. The path is the same on both.
  const answer = await fetch(new URL(captureUrl).pathname, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'test.request', message: 'Hello from Creel', sentAt: new Date().toISOString() }),
  });
  if (!answer.ok) throw new Error(`${answer.status}`);
}
