import { openApiDocument } from '@creel/contract';
import type { AppContext } from '../../app-context.ts';
import { VERSION } from '../../version.ts';
import type { Handlers } from '../../http/call.ts';
import { START_PATH } from '../accounts/service.ts';

/** The document of each server. It takes 8 ms to make and never changes. */
const documents = new WeakMap<AppContext, ReturnType<typeof openApiDocument>>();

export const serviceHandlers = {
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
