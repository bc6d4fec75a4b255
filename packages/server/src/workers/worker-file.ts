/** A worker's file, beside the source of the module with the URL `starter` or in the bundle (scripts/bundle.ts). */
export function workerFile(starter: string, source: string, bundled: string): URL {
  return new URL(starter.endsWith('.ts') ? source : bundled, starter);
}
