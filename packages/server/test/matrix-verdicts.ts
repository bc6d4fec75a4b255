import type { AnyInput, OperationName } from '@creel/contract';
import type { UserRecord } from '../src/database/records.ts';

/** The resources of a user that a call can name. */
export interface Things {
  readonly uid: string;
  /** Ids of a saved and of an unsaved request of that endpoint. */
  readonly savedId: number;
  readonly unsavedId: number;
  readonly unsavedIndex: number;
  readonly destinationId: number;
  /** A checkout of the test gateway. */
  readonly checkoutId: string;
}

export interface Verdict {
  /** A valid call of the owner. */
  readonly call: (things: Things) => AnyInput;
  /** The status for a caller without a cookie; 401 by default. */
  readonly visitor?: number;
  /** The status for the owner; 200 by default. */
  readonly owner?: number;
  /** Tables that even a rejected call writes to, because attempts are counted. */
  readonly notes?: readonly string[];
  /** Authenticates by signature instead of origin. */
  readonly trusts?: 'signature';
  /** Fields of the caller's own account that the call may change. All others must stay, whatever is sent. */
  readonly changes?: readonly (keyof UserRecord)[];
  /** Other places in the call where another user's resources can be named. */
  readonly foreign?: (things: Things) => AnyInput;
}

const PASSWORD = 'a good password';
const SETTINGS = {
  autoSaveNewEndpoints: false,
  emailNotifyExpiry: false,
  emailNotifySubscription: false,
  email: 'a@example.com',
};
const request = ({ uid, savedId }: Things): AnyInput => ({ params: { uid, id: savedId } });
const none = (): AnyInput => ({});

/** Operations with input, or with other responses than the default. */
const VERDICTS: Readonly<Partial<Record<OperationName, Verdict>>> = {
  register: { call: () => ({ body: { username: 'ab', password: PASSWORD, email: 'a@example.com' } }), visitor: 400 },
  login: { call: () => ({ body: { username: 'nobody here', password: PASSWORD } }), notes: ['throttles'] },
  logout: { call: none, visitor: 204 },
  googleLogin: { call: () => ({ body: { email: 'a@example.com', displayName: 'A', uid: '1' } }) },
  changeUsername: { call: () => ({ body: { username: 'a new name' } }), changes: ['username'] },
  changePassword: {
    call: () => ({
      body: { currentPassword: PASSWORD, newPassword: 'a newer password', confirmPassword: 'a newer password' },
    }),
    changes: ['passwordHash'],
  },
  // Reading the user also reads an open checkout from the gateway, and notes when.
  getUser: { call: none, notes: ['billing_accounts'] },
  deleteAccount: { call: () => ({ body: { password: 'not the right one' } }), notes: ['billing_accounts'] },
  saveSettings: { call: () => ({ body: SETTINGS }), changes: ['settings'] },
  testEmail: { call: () => ({ body: { email: 'a@example.com' } }) },
  // 501: these servers have no mail.
  requestPasswordReset: { call: () => ({ body: { email: 'a@example.com' } }), visitor: 501 },
  resetPassword: { call: () => ({ body: { token: 'x', password: PASSWORD } }), visitor: 400 },
  verifyEmail: { call: () => ({ body: { token: 'x' } }) },
  createEndpoint: { call: () => ({ body: { name: 'An endpoint' } }) },
  changeEndpoint: { call: ({ uid }) => ({ params: { uid }, body: { name: 'Another name' } }) },
  saveRequest: { call: ({ uid, unsavedIndex }) => ({ params: { uid }, body: { index: unsavedIndex } }) },
  saveRequests: { call: ({ uid, unsavedIndex }) => ({ params: { uid }, body: { indexes: [unsavedIndex] } }) },
  restoreRequest: {
    call: ({ uid, unsavedIndex }) => ({
      params: { uid },
      body: {
        index: unsavedIndex,
        method: 'POST',
        rawTarget: '/',
        rawHeaders: [],
        body: null,
        bodyEncoding: 'utf8',
        sourceIp: '192.0.2.1',
        timestamp: '2026-11-22T10:00:00.000Z',
      },
    }),
    // 400: another request is stored.
    owner: 400,
  },
  deleteRequests: {
    call: ({ uid, unsavedIndex }) => ({ params: { uid }, body: { indexes: [unsavedIndex] } }),
  },
  search: { call: () => ({ query: { q: 'secret' } }) },
  replay: {
    call: () => ({ body: { method: 'GET', url: 'http://127.0.0.1:9/', headers: [] } }),
    foreign: ({ uid, savedId }) => ({
      body: { method: 'POST', url: 'http://127.0.0.1:9/', headers: [], bodyFrom: { endpointUid: uid, id: savedId } },
    }),
  },
  createDestination: { call: ({ uid }) => ({ params: { uid }, body: { url: 'http://127.0.0.1:9/' } }) },
  changeDestination: {
    call: ({ uid, destinationId }) => ({ params: { uid, id: destinationId }, body: { enabled: false } }),
  },
  deleteDestination: { call: ({ uid, destinationId }) => ({ params: { uid, id: destinationId } }) },
  reportDelivery: {
    call: (things) => ({
      ...request(things),
      body: {
        url: 'http://127.0.0.1:9/',
        method: 'POST',
        attempt: 1,
        status: 200,
        error: null,
        durationMs: 1,
        at: new Date().toISOString(),
      },
    }),
  },
  retryDelivery: { call: ({ uid }) => ({ params: { uid, deliveryId: 'dlv_unknown' } }), owner: 404 },
  setSigningSecret: {
    call: ({ uid }) => ({ params: { uid }, body: { scheme: 'github', secret: 'a secret' } }),
  },
  createCheckout: {
    call: () => ({ body: { tier: 'BASIC', interval: 'monthly', returnUrl: '/subscription' } }),
    changes: ['stripeCustomerId'],
  },
  createPortal: { call: () => ({ body: { returnUrl: '/subscription' } }) },
  changeSubscription: { call: () => ({ body: { tier: 'BASIC', interval: 'monthly' } }) },
  previewPlanChange: { call: () => ({ query: { tier: 'FREE', interval: 'monthly' } }) },
  // 400: without a signature.
  receiveBillingEvent: { call: none, visitor: 400, trusts: 'signature' },
  exportRequests: {
    call: none,
    foreign: ({ uid }) => ({ query: { endpoint: uid } }),
  },
  getTestCheckout: { call: ({ checkoutId }) => ({ params: { id: checkoutId } }) },
  decideTestCheckout: { call: ({ checkoutId }) => ({ params: { id: checkoutId }, body: { action: 'pay' } }) },
  getTestSubscription: { call: none, owner: 400 },
  actOnTestSubscription: { call: () => ({ body: { action: 'cancel' } }) },
  getServiceInfo: { call: none, visitor: 200 },
  getOpenApi: { call: none, visitor: 200 },
};

/** The row of an operation. By default a call that names the endpoint and a saved request is valid. */
export function verdictOf(name: OperationName): Verdict {
  return VERDICTS[name] ?? { call: request };
}

export function hasOwnVerdict(name: OperationName): boolean {
  return VERDICTS[name] !== undefined;
}
