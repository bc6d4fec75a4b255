import { escapeBidiControls } from '../../../bodies/encoding.ts';

/**
 * The path with its percent-encoding decoded; `undefined` if that changes nothing, or if the bytes are not UTF-8 or
 * hold control characters.
 */
export function decodedPath(path: string): string | undefined {
  if (!path.includes('%')) return undefined;
  try {
    const decoded = decodeURIComponent(path);
    return decoded === path || /\p{Cc}/u.test(decoded) ? undefined : escapeBidiControls(decoded);
  } catch {
    return undefined;
  }
}
