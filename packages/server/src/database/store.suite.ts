import { afterAll, beforeAll, describe } from 'vitest';
import { billingSuite } from '../features/billing/queries.suite.ts';
import { accountLinksSuite } from '../features/accounts/account-links.suite.ts';
import { accountsSuite } from '../features/accounts/queries.suite.ts';
import { captureSuite } from './captures.suite.ts';
import { endpointsSuite } from '../features/endpoints/queries.suite.ts';
import { randomOperationsSuite } from './random-operations.suite.ts';
import { requestsSuite } from '../features/requests/queries.suite.ts';
import { queryAgreementSuite } from '../features/search/query-agreement.suite.ts';
import { searchSuite } from '../features/search/queries.suite.ts';
import { throttlesSuite } from '../features/accounts/throttles.suite.ts';
import { noticesSuite } from '../features/jobs/notices.suite.ts';
import { upkeepSuite } from '../features/jobs/queries.suite.ts';
import type { Store } from './store.ts';

/** A store for tests, empty at first, and how to be rid of it. */
export interface TestStore {
  readonly store: Store;
  readonly remove: () => Promise<void>;
}

/** The law for every database: what store.ts says, in examples. One store serves all of them; each test makes its own people and endpoints. */
export function storeSuite(name: string, openTestStore: () => Promise<TestStore>): void {
  describe(`storage on ${name}`, () => {
    let opened: TestStore | undefined;
    beforeAll(async () => {
      opened = await openTestStore();
    });
    afterAll(() => opened?.remove());
    const store = (): Store => {
      if (opened === undefined) throw new Error('The store is not open.');
      return opened.store;
    };
    accountsSuite(store);
    accountLinksSuite(store);
    throttlesSuite(store);
    endpointsSuite(store);
    captureSuite(store);
    requestsSuite(store);
    searchSuite(store);
    queryAgreementSuite(store);
    noticesSuite(store);
    billingSuite(store);
    upkeepSuite(store);
    randomOperationsSuite(store);
  });
}
