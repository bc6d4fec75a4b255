#!/usr/bin/env node
// `creel` for Node 20 and later: runs with the Node from the packages, like the npm scripts.
import process from 'node:process';
import { logError } from '../../scripts/log.mjs';
import { runCreel } from '../../scripts/programs.mjs';

await runCreel(process.argv.slice(2)).catch(logError);
