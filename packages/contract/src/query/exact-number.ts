/** A JSON number (RFC 8259, section 6) with all of its digits: `0.digits` times ten to the power of `magnitude`. */
export interface ExactNumber {
  readonly isNegative: boolean;
  /** Without leading and trailing zeros. Empty for zero. */
  readonly digits: string;
  /** Exact for exponents below 2 to the power of 53. Larger ones are rounded, at most to infinity. */
  readonly magnitude: number;
}

const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?)(\d+))?$/;

/** Parses a JSON number. Returns `undefined` for any other text. */
export function parseExactNumber(text: string): ExactNumber | undefined {
  const parts = JSON_NUMBER.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', exponentSign, exponent = '0'] = parts;
  const all = whole + fraction;
  let start = 0;
  while (all[start] === '0') start += 1;
  if (start === all.length) return { isNegative: false, digits: '', magnitude: 0 };
  let end = all.length;
  while (all[end - 1] === '0') end -= 1;
  const digits = all.slice(start, end);
  const isNegative = sign === '-';
  const shift = Number(exponent) * (exponentSign === '-' ? -1 : 1);
  return { isNegative, digits, magnitude: shift + whole.length - start };
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

function compare<T extends string | number>(a: T, b: T): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}
