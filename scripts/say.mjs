// How the tooling talks: short lines on standard error, so that standard output stays the product's own.
import process from 'node:process';

/** Prints one line about what is going on. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Ends what is going on with a sentence for a person and no stack trace.
 * @param {string} sentence
 * @returns {never}
 */
export function stopWith(sentence) {
  throw Object.assign(new Error(sentence), { plain: true });
}
