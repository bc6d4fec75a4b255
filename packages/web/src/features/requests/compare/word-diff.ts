import { diffWordsWithSpace } from 'diff';

/** A part of a text; `changed` if the other text does not have it. */
export interface TextPart {
  readonly text: string;
  readonly changed: boolean;
}

interface WordDiff {
  readonly left: readonly TextPart[];
  readonly right: readonly TextPart[];
}

/** Milliseconds after which long texts count as different in whole. */
const TIME_MS = 50;

/** Below this share of common characters, marking single words would only confuse. */
const MIN_COMMON_SHARE = 0.25;

/** Compares two texts word by word. Texts with little in common are marked as a whole. */
export function diffWords(left: string, right: string): WordDiff {
  const isChanged = left !== right;
  const whole = { left: unlessIndent(left, isChanged), right: unlessIndent(right, isChanged) };
  if (!isChanged) return whole;
  const changes = diffWordsWithSpace(left, right, { timeout: TIME_MS });
  if (changes === undefined) return whole;
  const common = changes.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.length), 0);
  if (common < MIN_COMMON_SHARE * Math.max(left.length, right.length)) return whole;
  return {
    left: changes.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, changed: removed })),
    right: changes.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, changed: added })),
  };
}

/** The whole text as changed, except for its indentation. */
function unlessIndent(text: string, changed: boolean): TextPart[] {
  const indent = /^\s*/.exec(text)?.[0] ?? '';
  const parts = [
    { text: indent, changed: false },
    { text: text.slice(indent.length), changed },
  ];
  return parts.filter((part) => part.text !== '');
}
