import type { Locator, Page } from '@playwright/test';
import type { Prepare, Stage } from './stage.ts';

/** One state of one screen: brings it about and gives the page that shows it. */
export interface Scene {
  /** Begins with its screen: `endpoint-expired`. */
  readonly name: string;
  /** What only a narrow page has is not taken at the wide sizes. */
  readonly narrowOnly?: boolean;
  /** What is open closes where the layout changes with the width: brought about anew at each size. */
  readonly anew?: boolean;
  readonly play: (stage: Stage) => Promise<Page>;
}

/** The page once something of it is there; throws after 15 seconds without it. */
export async function shows(page: Page, sign: string | Locator): Promise<Page> {
  const locator = typeof sign === 'string' ? page.getByText(sign).first() : sign;
  await locator.waitFor({ timeout: 15_000 });
  return page;
}

/** Answers a call with a failure. */
export const failing =
  (path: string): Prepare =>
  (page) =>
    page.route(path, (route) =>
      route.fulfill({ status: 503, json: { error: SENTENCE, message: SENTENCE, code: 'UNAVAILABLE' } }),
    );
const SENTENCE = 'Storage cannot be reached just now.';

/** Leaves a call without an answer. */
export const waiting =
  (path: string): Prepare =>
  (page) =>
    page.route(path, () => undefined);
