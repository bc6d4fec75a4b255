/** See postgres.mjs. */
export function startPostgres(): Promise<{ url: string; stop: () => Promise<void> }>;
