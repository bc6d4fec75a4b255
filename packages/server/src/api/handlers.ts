import { accountHandlers } from './account-handlers.ts';
import type { Handlers } from './call.ts';
import { endpointHandlers } from './endpoint-handlers.ts';
import { replayHandlers } from './replay-handlers.ts';
import { searchHandlers } from '../features/search/routes.ts';
import { requestHandlers } from './request-handlers.ts';
import { serviceHandlers } from './service-handlers.ts';

/** Every call that this build can do. */
export const HANDLERS: Handlers = {
  ...accountHandlers,
  ...endpointHandlers,
  ...requestHandlers,
  ...searchHandlers,
  ...replayHandlers,
  ...serviceHandlers,
};
