export * from './captured-request.ts';
export * from './client.ts';
export { parseJson, textOf, textOfBeginning, tryDecode } from './decoding.ts';
export * from './delivery.ts';
export * from './endpoint.ts';
export * from './event-type.ts';
export * from './limits.ts';
export * from './live.ts';
export * from './openapi.ts';
export * from './operations.ts';
export * from './operations/operation.ts';
export type {
  Money,
  PlanChangePreview,
  TestCheckout,
  TestCheckoutAction,
  TestPortalAction,
  TestSubscription,
} from './operations/billing-operations.ts';
export { serviceInfoSchema, type ServiceInfo } from './operations/service-operations.ts';
export * from './plan.ts';
export * from './problems.ts';
export { matcherOf, steppedMatcherOf, timeOf } from './query/matches.ts';
export { parseQuery, type QueryMistake, type QueryParseResult } from './query/parse-query.ts';
export {
  isMisspelled,
  unknownFieldsSentence,
  unknownFieldsSentences,
  type UnknownField,
} from './query/unknown-field.ts';
export { printQuery } from './query/print-query.ts';
export * from './query/query.ts';
export * from './query/searchable-request.ts';
export { RequestView } from './query/request-view.ts';
export { byteText, foldCase, utf8Text } from './query/text-match.ts';
export type { WorkSteps } from './query/json-text.ts';
export * from './raw-headers.ts';
export * from './replay.ts';
export {
  parseSearchPosition,
  positionBefore,
  printSearchPosition,
  SEARCHED_HEADER,
  type SearchPosition,
} from './search-position.ts';
export { sendAndRead } from './send-and-read.ts';
export * from './signing.ts';
export * from './source-label.ts';
export * from './user.ts';
export * from './views.ts';
