/** Longer bodies are not laid out again, because each layout costs time. */
const MAX_BYTES = 256 * 1024;
/** Deeper JSON would grow with the square of its depth when it is indented. */
const MAX_DEPTH = 64;

export interface JsonLayout {
  /** Completes "As … the body matches". */
  readonly name: string;
  readonly body: Uint8Array;
}

/** A string, a punctuation mark, or a number or word. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * The bytes that a body can have had before a program parsed and wrote it again. Numbers and strings keep their
 * spelling in the first layouts; the last ones spell them as common serializers do. Empty if the body is not JSON.
 */
export function* jsonLayouts(body: Uint8Array): Generator<JsonLayout> {
  const text = body.length > MAX_BYTES ? '' : Buffer.from(body).toString('utf8');
  const serialized = serializeAgain(text);
  if (serialized === undefined) return;
  const escaped = serialized.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const spellings = [
    { spelling: text, suffix: '' },
    { spelling: serialized, suffix: ' of JSON.stringify' },
    { spelling: escaped, suffix: ' with \\u escapes' },
    { spelling: escaped.replaceAll('/', '\\/'), suffix: ' with \\u and \\/ escapes' },
  ];
  for (const { spelling, suffix } of spellings) {
    const tokens = spelling.match(TOKEN) ?? [];
    yield layout(`compact JSON${suffix}`, tokens.join(''));
    yield layout(`JSON on one line with spaces${suffix}`, spaced(tokens));
    yield layout(`pretty-printed JSON${suffix} (2 spaces)`, indented(tokens, '  '));
    yield layout(`pretty-printed JSON${suffix} (4 spaces)`, indented(tokens, '    '));
    yield layout(`pretty-printed JSON${suffix} (tabs)`, indented(tokens, '\t'));
  }
}

function layout(name: string, text: string): JsonLayout {
  return { name, body: Buffer.from(text, 'utf8') };
}

/** `undefined` if the text is not JSON or too deep. */
function serializeAgain(text: string): string | undefined {
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_DEPTH) return undefined;
  }
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** With a space after each comma and colon, as Python's `json.dumps` writes it. */
function spaced(tokens: readonly string[]): string {
  return tokens.map((token) => (token === ',' || token === ':' ? `${token} ` : token)).join('');
}

/** With line breaks, as `JSON.stringify` writes it. Empty objects and arrays stay on one line. */
function indented(tokens: readonly string[], indent: string): string {
  let depth = 0;
  const line = (): string => `\n${indent.repeat(depth)}`;
  return tokens
    .map((token, at) => {
      if (token === '{' || token === '[') {
        depth += 1;
        return isClosing(tokens[at + 1]) ? token : token + line();
      }
      if (isClosing(token)) {
        depth -= 1;
        const before = tokens[at - 1];
        return before === '{' || before === '[' ? token : line() + token;
      }
      if (token === ',') return token + line();
      return token === ':' ? ': ' : token;
    })
    .join('');
}

function isClosing(token: string | undefined): boolean {
  return token === '}' || token === ']';
}
