import { billingHandlers } from './features/billing/routes.ts';
import { deliveryHandlers } from './features/deliveries/routes.ts';
import { exportHandlers } from './features/export/routes.ts';
import { accountHandlers } from './features/accounts/routes.ts';
import type { AllHandlers } from './http/call.ts';
import { endpointHandlers } from './features/endpoints/routes.ts';
import { replayHandlers } from './features/replay/routes.ts';
import { searchHandlers } from './features/search/routes.ts';
import { requestHandlers } from './features/requests/routes.ts';
import { settingsHandlers } from './features/settings/routes.ts';
import { signatureHandlers } from './features/signatures/routes.ts';
import { serviceHandlers } from './features/service/routes.ts';

/** The handlers of all API calls. */
export const HANDLERS: AllHandlers = {
  ...accountHandlers,
  ...settingsHandlers,
  ...endpointHandlers,
  ...requestHandlers,
  ...searchHandlers,
  ...replayHandlers,
  ...deliveryHandlers,
  ...serviceHandlers,
  ...billingHandlers,
  ...exportHandlers,
  ...signatureHandlers,
};
