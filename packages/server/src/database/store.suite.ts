import { describe } from 'vitest';
import { billingSuite } from '../features/billing/queries.suite.ts';
import { accountLinksSuite } from '../features/accounts/account-links.suite.ts';
import { accountsSuite } from '../features/accounts/queries.suite.ts';
import { attemptsSuite } from '../features/deliveries/attempt-queries.suite.ts';
import { captureSuite } from './captures.suite.ts';
import { deliveriesSuite } from '../features/deliveries/queries.suite.ts';
import { endpointsSuite } from '../features/endpoints/queries.suite.ts';
import { randomOperationsSuite } from './random-operations.suite.ts';
import { randomDeliveriesSuite } from '../features/deliveries/random-deliveries.suite.ts';
import { requestsSuite } from '../features/requests/queries.suite.ts';
import { queryAgreementSuite } from '../features/search/query-agreement.suite.ts';
import { searchSuite } from '../features/search/queries.suite.ts';
import { signaturesSuite } from '../features/signatures/queries.suite.ts';
import { throttlesSuite } from '../features/accounts/throttles.suite.ts';
import { noticesSuite } from '../features/jobs/notices.suite.ts';
import { liveSuite } from '../features/live/queries.suite.ts';
import { maintenanceSuite } from '../features/jobs/queries.suite.ts';
import type { AppStore } from '../queries.ts';

/** Tests of the store and all queries for every database. All tests share one store; each creates its own users and endpoints. */
export function storeSuite(name: string, store: AppStore): void {
  describe(`storage on ${name}`, () => {
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
    liveSuite(store);
    signaturesSuite(store);
    deliveriesSuite(store);
    attemptsSuite(store);
    maintenanceSuite(store);
    randomOperationsSuite(store);
    randomDeliveriesSuite(store);
  });
}
