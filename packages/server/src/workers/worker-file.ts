/**
 * The file of a worker: its source beside the module that starts it, or its own file in the bundle
 * (scripts/bundle.ts). `starter`: that module's `import.meta.url`.
 */
export function workerFile(starter: string, source: string, bundled: string): URL {
  return new URL(starter.endsWith('.ts') ? source : bundled, starter);
}
