/** The error for a new username with letters of several writing systems. */
export const MIXED_SCRIPTS = 'Username must not mix letters of different alphabets';

/** Scripts in common use (UAX 31, table 5). */
const SCRIPTS = (
  'Latin Greek Cyrillic Armenian Hebrew Arabic Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada ' +
  'Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Ethiopic Khmer Hangul Han Hiragana Katakana Bopomofo'
).split(' ');
/** Scripts that are used together (UTS 39, "Highly Restrictive"): Japanese, Chinese with Bopomofo, Korean. */
const TOGETHER = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];

const classOf = (scripts: readonly string[]): string => scripts.map((script) => `\\p{scx=${script}}`).join('');
/** Digits, punctuation, emoji and combining marks combine with every script. */
const SHARED = classOf(['Common', 'Inherited']);
const ALLOWED = [...SCRIPTS.map((script) => [script]), ...TOGETHER].map(
  (scripts) => new RegExp(`^[${SHARED}${classOf(scripts)}]*$`, 'u'),
);
/** Matches names without a letter of a common script, which can't imitate a common name. */
const UNCOMMON = new RegExp(`^[^${classOf(SCRIPTS)}]*$`, 'u');

/**
 * True if a name mixes scripts and may imitate another name, such as `pаypal` with a Cyrillic `а` (UTS 39, "Highly
 * Restrictive"). Applies to new names only.
 */
export function mixesScripts(name: string): boolean {
  return !UNCOMMON.test(name) && !ALLOWED.some((allowed) => allowed.test(name));
}
