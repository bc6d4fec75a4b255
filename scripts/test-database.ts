import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where vitest-setup.ts answers with the URL of the run's PostgreSQL. */
    testDatabaseBroker: string;
  }
}

/**
 * The URL of a real PostgreSQL for tests: TEST_DATABASE_URL where it is set, else one that is started for this run when
 * the first test asks. Its user may create databases and schemas; tests share it, so each makes (and drops) its own.
 * Throws, and so fails the test, with a sentence when there is none to be had.
 */
export async function testDatabaseUrl(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) {
    return given;
  }
  const answer = await fetch(inject('testDatabaseBroker'));
  const text = await answer.text();
  if (!answer.ok) {
    throw new Error(text);
  }
  return text;
}
