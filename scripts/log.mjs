// Messages go to standard error, because standard output belongs to the program that runs.
import process from 'node:process';

/** @param {string} line */
export function log(line) {
  process.stderr.write(`${line}\n`);
}

/** An expected failure. Its message tells the user what to do, so no stack trace is shown. */
export class SetupError extends Error {
  /** @param {string} message @param {number} [exitCode] 2 if the command line is wrong */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Prints an error and makes the process exit with its code, else with 1. @param {unknown} error */
export function logError(error) {
  log(error instanceof SetupError ? error.message : error instanceof Error ? String(error.stack) : String(error));
  process.exitCode = error instanceof SetupError ? error.exitCode : 1;
}
