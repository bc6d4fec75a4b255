import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const TICK_MS = 10;

/** Sends captures at a steady rate, whether or not the last ones were answered. How many were acknowledged. */
export async function sendPaced(captureUrl: string, perSecond: number, seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const started = performance.now();
  const answers: Promise<boolean>[] = [];
  while (performance.now() - started < seconds * 1000) {
    const due = Math.floor(((performance.now() - started) / 1000) * perSecond);
    while (answers.length < due) answers.push(sendOne(captureUrl, agent, answers.length));
    await sleep(TICK_MS);
  }
  const acknowledged = (await Promise.all(answers)).filter(Boolean).length;
  agent.destroy();
  return acknowledged;
}

function sendOne(captureUrl: string, agent: Agent, nth: number): Promise<boolean> {
  const body = JSON.stringify({ id: `evt_${nth}`, type: 'order.paid', amount: nth });
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(captureUrl, { agent, method: 'POST', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200));
    });
    sent.on('error', () => resolve(false));
    sent.end(body);
  });
}
