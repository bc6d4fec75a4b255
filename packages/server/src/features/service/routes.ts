import { openApiDocument } from '@creel/contract';
import { VERSION } from '../../version.ts';
import type { Handlers } from '../../http/call.ts';
import { START_PATH } from '../accounts/service.ts';

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
  getOpenApi: async ({ app }) => openApiDocument({ version: VERSION, url: app.publicUrl() }),
} satisfies Handlers;
