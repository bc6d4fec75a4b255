import type { DetailTab } from './use-view-state.ts';

/**
 * The initial tab of a request: JSON if the content type contains json; Raw if it contains text, xml or html;
 * otherwise JSON if the body parses as JSON, else Raw. Headers if there is no body.
 */
export function defaultTab(size: number, contentType: string | null, parsesAsJson: () => boolean): DetailTab {
  if (size === 0) return 'headers';
  const type = (contentType ?? '').toLowerCase();
  if (type.includes('json')) return 'json';
  if (/text|xml|html/.test(type)) return 'raw';
  return parsesAsJson() ? 'json' : 'raw';
}
