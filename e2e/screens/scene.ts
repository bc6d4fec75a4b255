import type { Locator, Page } from '@playwright/test';
import { answerWith, changeAnswer, problem } from '../pages.ts';
import type { Prepare, Stage } from './stage.ts';

/** One state of one screen. `play` sets it up and returns the page. */
export interface Scene {
  /** Starts with the screen: `endpoint-expired`. */
  readonly name: string;
  /** True for a scene that exists only on narrow screens. */
  readonly narrowOnly?: boolean;
  /** True if a change of the layout would close the scene. It is then set up again for each size. */
  readonly perSize?: boolean;
  readonly play: (stage: Stage) => Promise<Page>;
}

/** Returns the page when an element is visible. @throws after 15 seconds */
export async function shows(page: Page, sign: string | RegExp | Locator): Promise<Page> {
  const isText = typeof sign === 'string' || sign instanceof RegExp;
  const locator = isText ? page.getByText(sign).first() : sign;
  await locator.waitFor({ timeout: 15_000 });
  return page;
}

/** Answers a call in place of the server. */
export const answering =
  (path: string, json: object, status = 200): Prepare =>
  (page) =>
    answerWith(page, path, status, json);

/** Changes fields of the server's answers. */
export const changing =
  (path: string, change: object): Prepare =>
  (page) =>
    changeAnswer(page, path, change);

/** Makes a call fail. */
export const failing = (path: string): Prepare =>
  answering(path, problem('Storage cannot be reached just now.', 'UNAVAILABLE'), 503);

/** Leaves a call without a response. */
export const waiting =
  (path: string | RegExp): Prepare =>
  (page) =>
    page.route(path, () => undefined);
