import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address that returns the URL of the run's PostgreSQL, from vitest-setup.ts. */
    testDatabaseBroker: string;
  }
}

/**
 * The URL of a real PostgreSQL: TEST_DATABASE_URL, else one that starts when the first test of the run asks. Its user may create
 * databases and schemas. All tests share it, so each creates and drops its own. @throws Error if there is none
 */
export async function testDatabaseUrl(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return given;
  const response = await fetch(inject('testDatabaseBroker'));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
