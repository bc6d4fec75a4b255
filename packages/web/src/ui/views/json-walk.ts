import { CELL, cellOf } from '../../model/json-lines.ts';
import type { JsonLines } from '../../model/json-lines.ts';

const PAGE = 20;

/** The line that a key leads to among those that are seen; `undefined` for other keys. */
export function nextVisible(lines: Uint32Array, active: number, key: string): number | undefined {
  const at = lines.indexOf(active);
  const last = lines.length - 1;
  switch (key) {
    case 'ArrowDown':
      return lines[Math.min(last, at + 1)];
    case 'ArrowUp':
      return lines[Math.max(0, at - 1)];
    case 'PageDown':
      return lines[Math.min(last, at + PAGE)];
    case 'PageUp':
      return lines[Math.max(0, at - PAGE)];
    case 'Home':
      return lines[0];
    case 'End':
      return lines[last];
    default:
      return undefined;
  }
}

/** Every line that folds, but for the outermost. */
export function foldable(json: JsonLines): Set<number> {
  const all = new Set<number>();
  for (let line = 1; line < json.count; line++) if (cellOf(json, line, CELL.fold) >= 0) all.add(line);
  return all;
}
