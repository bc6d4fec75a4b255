/** A JSON number (RFC 8259, section 6) of any size without rounding: `0.digits` times ten to the power of `magnitude`. */
export interface ExactNumber {
  readonly isNegative: boolean;
  /** Without leading and trailing zeros. Empty for zero. */
  readonly digits: string;
  /** A number where that is exact, because bodies can have millions of numbers. */
  readonly magnitude: number | bigint;
}

const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?)(\d+))?$/;
/**
 * Maximum digits of an exponent. Queries are shorter, so a number in a body with a longer exponent is beyond any number in a query.
 * Reading all its digits would take quadratic time.
 */
const MAX_EXPONENT_DIGITS = 2100;

/** Parses a JSON number. Returns `undefined` for any other text. */
export function parseExactNumber(text: string): ExactNumber | undefined {
  const parts = JSON_NUMBER.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponentSign, exponent = '0'] = parts;
  const all = whole + fraction;
  const start = countZeros(all);
  if (start === all.length) return { isNegative: false, digits: '', magnitude: 0 };
  let end = all.length;
  while (all[end - 1] === '0') end -= 1;
  const digits = all.slice(start, end);
  const isNegative = sign === '-';
  if (exponent.length < 16) {
    const shift = Number(exponent) * (exponentSign === '-' ? -1 : 1);
    return { isNegative, digits, magnitude: shift + whole.length - start };
  }
  const shift = exponentOf(exponent) * (exponentSign === '-' ? -1n : 1n);
  return { isNegative, digits, magnitude: shift + BigInt(whole.length - start) };
}

/** Comparison for sorting: negative, zero or positive. */
export function compareExact(a: ExactNumber, b: ExactNumber): number {
  const signs = signOf(a) - signOf(b);
  if (signs !== 0) return signs;
  // Fractions with the same magnitude sort like text.
  const order = compare(a.magnitude, b.magnitude) || compare(a.digits, b.digits);
  return a.isNegative ? -order : order;
}

function signOf({ digits, isNegative }: ExactNumber): number {
  if (digits === '') return 0;
  return isNegative ? -1 : 1;
}

function compare<T extends string | number | bigint>(a: T, b: T): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function countZeros(digits: string): number {
  let zeros = 0;
  while (digits[zeros] === '0') zeros += 1;
  return zeros;
}

function exponentOf(digits: string): bigint {
  const significant = digits.slice(countZeros(digits));
  if (significant === '') return 0n;
  return significant.length > MAX_EXPONENT_DIGITS ? 10n ** BigInt(MAX_EXPONENT_DIGITS) : BigInt(significant);
}
