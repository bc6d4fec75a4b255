// The attacker, in a separate process: `attacker.ts NAME TARGET`, with the target as JSON. Prints its observations and exits, which closes
// all of its connections. It has a lower priority than the server, because both share the machine's cores.
import { setPriority } from 'node:os';
import { z } from 'zod';
import { ATTACKS } from './attacks/all.ts';
import { AnswerCount } from './sockets.ts';

/** Low enough not to slow the server down, high enough to run on a busy machine. */
const PRIORITY = 5;

const targetSchema = z.object({
  port: z.int(),
  uid: z.string(),
  capturePath: z.string(),
  cookie: z.string(),
  staticPath: z.string(),
});

setPriority(PRIORITY);
const [name, target = ''] = process.argv.slice(2);
const attack = ATTACKS.find((each) => each.name === name);
if (attack === undefined) throw new Error(`There is no attack ${String(name)}.`);
const answers = new AnswerCount();
const saw = await attack.run(targetSchema.parse(JSON.parse(target)), answers);
process.stdout.write(saw ?? answers.toString(), () => process.exit(0));
