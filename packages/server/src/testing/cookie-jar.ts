/** The cookies of one browser, as far as tests need them: one host, every path. */
export class CookieJar {
  readonly #cookies = new Map<string, string>();

  /** For the `Cookie` header; empty when there is none. */
  header(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get(name: string): string | undefined {
    return this.#cookies.get(name);
  }

  /** Plants a cookie, as an attacker or an older build might have. */
  set(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  delete(name: string): void {
    this.#cookies.delete(name);
  }

  clear(): void {
    this.#cookies.clear();
  }

  /** Takes an answer's `Set-Cookie` lines. */
  take(headers: globalThis.Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
      const isOver = attributes.some((attribute) => {
        const [key = '', text = ''] = attribute.split(/=(.*)/s, 2);
        return /^max-age$/i.test(key) ? Number(text) <= 0 : /^expires$/i.test(key) && Date.parse(text) < Date.now();
      });
      if (isOver) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}
