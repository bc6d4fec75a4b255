/**
 * Where a worker thread's code is: its source, beside the module that starts it, or in the bundle that `npm start` runs
 * (scripts/build-server.ts) a file of its own. `starter`: that module's `import.meta.url`.
 */
export function workerFile(starter: string, source: string, bundled: string): URL {
  return new URL(starter.endsWith('.ts') ? source : bundled, starter);
}
