import { openApiDocument } from '@creel/contract';
import type { AppContext } from './app-context.ts';
import { accountHandlers } from './features/accounts/routes.ts';
import { START_PATH } from './features/accounts/service.ts';
import { billingFinders, billingHandlers } from './features/billing/routes.ts';
import { deliveryFinders, deliveryHandlers } from './features/deliveries/routes.ts';
import { endpointHandlers } from './features/endpoints/routes.ts';
import { requestFinders, requestHandlers } from './features/requests/routes.ts';
import { replayFinders, replayHandlers } from './features/replay/routes.ts';
import { searchHandlers } from './features/search/routes.ts';
import { settingsHandlers } from './features/settings/routes.ts';
import type { AllFinders, AllHandlers, Handlers } from './http/call.ts';
import manifest from '../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;

/** The document of each server. It takes 8 ms to make and never changes. */
const documents = new WeakMap<AppContext, ReturnType<typeof openApiDocument>>();

const serviceHandlers = {
  async getServiceInfo({ app }) {
    const { config } = app;
    return {
      version: VERSION,
      publicUrl: app.publicUrl(),
      signIn: config.oidc === undefined ? null : { name: config.oidc.name, startUrl: app.publicUrl() + START_PATH },
      mail: config.smtpUrl !== undefined,
      billing: config.billing,
      maxBodyBytes: config.maxBodyBytes,
      maxSavedPerEndpoint: config.maxSavedPerEndpoint,
      maxUnsavedPerEndpoint: config.maxUnsavedPerEndpoint,
    };
  },
  async getOpenApi({ app }) {
    const document = documents.get(app) ?? openApiDocument({ version: VERSION, url: app.publicUrl() });
    documents.set(app, document);
    return document;
  },
} satisfies Handlers;

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
};

/** For calls that name more than an endpoint and have input. */
export const FINDERS: AllFinders = { ...requestFinders, ...deliveryFinders, ...replayFinders, ...billingFinders };
