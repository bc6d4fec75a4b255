import { isJson } from './json-text.ts';
import type { SearchableRequest } from './searchable-request.ts';
import { byteText, contains, foldCase, percentDecoded, wireContains } from './text-match.ts';
import type { Needle } from './text-match.ts';
import { textOf } from '../decoding.ts';
import type { WorkSteps } from './json-text.ts';

/** A decoded parameter of the query string. */
export interface Parameter {
  readonly name: string;
  /** In lower case. */
  readonly value: string;
}

/** The parts of a request that terms match, computed on first use. Texts are in lower case unless noted otherwise. */
export class RequestView {
  readonly request: SearchableRequest;
  #targets: readonly string[] | undefined;
  #paths: readonly string[] | undefined;
  #parameters: readonly Parameter[] | undefined;
  #headers: readonly (readonly [string, string])[] | undefined;
  #body: SearchedBody | undefined;

  constructor(request: SearchableRequest) {
    this.request = request;
  }

  get method(): string {
    return foldCase(this.request.method);
  }

  /** Path and query, both as sent and decoded. */
  get targets(): readonly string[] {
    return (this.#targets ??= this.#makeTargets());
  }

  /** The path, both as sent and decoded. */
  get paths(): readonly string[] {
    if (this.#paths === undefined) {
      const { path } = partsOf(this.request.target);
      this.#paths = bothForms(path, percentDecoded(path));
    }
    return this.#paths;
  }

  /** Query parameters, decoded like a form. Names keep their case. */
  get parameters(): readonly Parameter[] {
    return (this.#parameters ??= partsOf(this.request.target)
      .query.split('&')
      .filter((pair) => pair !== '')
      .map(parameterOf));
  }

  get headers(): readonly (readonly [string, string])[] {
    return (this.#headers ??= this.request.rawHeaders.map(
      ([name, value]) => [foldCase(name), foldCase(value)] as const,
    ));
  }

  /** The body in its original case if it is UTF-8, without a byte order mark. */
  get bodyText(): string | undefined {
    return this.#searchedBody.text;
  }

  /** True if the body is JSON. */
  checkJson(): WorkSteps {
    return this.#searchedBody.checkJson();
  }

  bodyContains(needle: Needle): boolean {
    return this.#searchedBody.contains(needle);
  }

  get #searchedBody(): SearchedBody {
    return (this.#body ??= new SearchedBody(this.request.body()));
  }

  #makeTargets(): readonly string[] {
    const { path, query, mark } = partsOf(this.request.target);
    return bothForms(path + mark + query, percentDecoded(path) + mark + formDecoded(query));
  }
}

/** Splits a target into its path (`/` if it is empty), the `?` if there is one, and the query. */
function partsOf(target: string): { readonly path: string; readonly query: string; readonly mark: string } {
  const at = target.indexOf('?');
  const path = at < 0 ? target : target.slice(0, at);
  return { path: path === '' ? '/' : path, query: at < 0 ? '' : target.slice(at + 1), mark: at < 0 ? '' : '?' };
}

function bothForms(sent: string, decoded: string): readonly string[] {
  return sent === decoded ? [foldCase(sent)] : [foldCase(sent), foldCase(decoded)];
}

function formDecoded(text: string): string {
  return percentDecoded(text.replaceAll('+', ' '));
}

function parameterOf(pair: string): Parameter {
  const at = pair.includes('=') ? pair.indexOf('=') : pair.length;
  return { name: formDecoded(pair.slice(0, at)), value: foldCase(formDecoded(pair.slice(at + 1))) };
}

/** Decodes a body as UTF-8 if it is valid, otherwise with one character per byte. */
class SearchedBody {
  /** With a byte order mark if the body has one. */
  readonly #text: string | undefined;
  readonly #bytes: Uint8Array;
  #folded: string | undefined;
  #isJson: boolean | undefined;

  constructor(bytes: Uint8Array | null) {
    this.#bytes = bytes ?? new Uint8Array();
    this.#text = textOf(this.#bytes);
  }

  /** A byte order mark is not part of JSON. */
  get text(): string | undefined {
    return this.#text?.startsWith('\uFEFF') === true ? this.#text.slice(1) : this.#text;
  }

  *checkJson(): WorkSteps {
    const { text } = this;
    return (this.#isJson ??= text !== undefined && (yield* isJson(text)));
  }

  /** UTF-8 is self-synchronizing, so the needle's bytes match only in valid sequences. */
  contains(needle: Needle): boolean {
    this.#folded ??= foldCase(this.#text ?? byteText(this.#bytes));
    return this.#text === undefined
      ? wireContains(this.#folded, { text: needle.bytes, bytes: needle.bytes })
      : contains(this.#folded, needle.text);
  }
}
