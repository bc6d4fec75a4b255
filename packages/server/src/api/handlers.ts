import { billingHandlers } from '../features/billing/routes.ts';
import { exportHandlers } from '../features/export/routes.ts';
import { accountHandlers } from './account-handlers.ts';
import type { AllHandlers } from './call.ts';
import { endpointHandlers } from './endpoint-handlers.ts';
import { replayHandlers } from './replay-handlers.ts';
import { searchHandlers } from '../features/search/routes.ts';
import { requestHandlers } from './request-handlers.ts';
import { serviceHandlers } from './service-handlers.ts';

/** Every call of the API. */
export const HANDLERS: AllHandlers = {
  ...accountHandlers,
  ...endpointHandlers,
  ...requestHandlers,
  ...searchHandlers,
  ...replayHandlers,
  ...serviceHandlers,
  ...billingHandlers,
  ...exportHandlers,
};
