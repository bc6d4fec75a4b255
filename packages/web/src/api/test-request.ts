/** Sends a real request to a capture URL, as any sender would: without cookies, whoever is signed in. */
export async function sendTestRequest(captureUrl: string): Promise<void> {
  // The page may be open under another name than the public one; the path is the same under both.
  const answer = await fetch(new URL(captureUrl).pathname, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ event: 'test.request', message: 'Hello from Creel', sentAt: new Date().toISOString() }),
  });
  if (!answer.ok) throw new Error(`${answer.status}`);
}
