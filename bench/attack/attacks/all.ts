import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attack.ts';
import { callFloods } from './calls.ts';
import { connectionAttacks } from './connections.ts';
import { cutOffBodies } from './cut-off-bodies.ts';
import { featureFloods } from './features.ts';
import { pipelining } from './pipelining.ts';
import { tenantFloods } from './tenants.ts';

/** The measurements of the witness and the neighbor without an attack. */
const calm: Attack = {
  name: 'calm',
  what: 'no attack, for comparison',
  neighborP99Ms: 100,
  maxSeconds: 10,
  run: () => sleep(8000, 'nothing sent'),
};

export const ATTACKS: readonly Attack[] = [
  calm,
  ...cutOffBodies,
  ...pipelining,
  ...connectionAttacks,
  ...tenantFloods,
  ...callFloods,
  ...featureFloods,
];
