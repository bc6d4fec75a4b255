/**
 * The first position from 0 to `length` at which a condition holds, by binary search; `length` if it holds nowhere.
 * After a position at which it holds, it must hold at all further ones.
 */
export function firstPosition(length: number, holds: (position: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
