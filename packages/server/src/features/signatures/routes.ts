import type { Handlers } from '../../http/call.ts';

/** The secret that an endpoint's sender signs with. No call returns it. */
export const signatureHandlers = {
  async setSigningSecret({ app, endpoint, body }) {
    await app.signatures.setSecret(endpoint.id, body);
    app.live.publish(endpoint.id, { type: 'changed' });
  },

  async deleteSigningSecret({ app, endpoint }) {
    await app.signatures.deleteSecret(endpoint.id);
    app.live.publish(endpoint.id, { type: 'changed' });
  },
} satisfies Handlers;
