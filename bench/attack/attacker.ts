// The attacker, in a process of its own: `attacker.ts NAME TARGET`, with the target as JSON. Prints what it saw and exits, which closes
// all of its connections. It yields to the server, because both share the machine's cores.
import { setPriority } from 'node:os';
import { z } from 'zod';
import { ATTACKS } from './attacks/all.ts';

/** Low enough to leave the server its core, high enough to still get a turn on a busy machine. */
const PRIORITY = 5;

const targetSchema = z.object({
  port: z.int(),
  capturePath: z.string(),
  cookie: z.string(),
  staticPath: z.string(),
});

setPriority(PRIORITY);
const [name, target = ''] = process.argv.slice(2);
const attack = ATTACKS.find((each) => each.name === name);
if (attack === undefined) throw new Error(`There is no attack ${String(name)}.`);
const saw = await attack.run(targetSchema.parse(JSON.parse(target)));
process.stdout.write(saw, () => process.exit(0));
