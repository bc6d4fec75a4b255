import { MAX_QUERY_LENGTH } from '@creel/contract';
import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { z } from 'zod';
import { isSignedOut } from './api/session.ts';
import { serviceInfoQuery, userQuery } from './api/queries.ts';
import { queryClient } from './api/query-client.ts';
import { EndpointLoading } from './features/endpoints/endpoint-loading.tsx';
import { AppLayout } from './shell/app-layout.tsx';
import { LoadFailed, NotFoundPage } from './shell/error-pages.tsx';
import { lazyPart, preloadParts } from './ui/lazy-part.tsx';
import { StartPage } from './ui/page.tsx';
import { loginPage, ownPath, parseSearch } from './ui/urls.ts';

/** A search parameter of a page. An invalid value counts as missing, so that an old link still opens its page. */
const parameter = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/** TanStack Router parses `?q=123` as a number, but a search text is always a string. */
const text = z.union([z.string(), z.number().transform(String), z.boolean().transform(String)]);

/** A page without the app's layout. */
const alone = (page: ReactNode) => <main className="h-full">{page}</main>;

const rootRoute = createRootRoute({
  component: Outlet,
  errorComponent: ({ error }) => alone(<LoadFailed error={error} />),
  // Of a path that can't be decoded, which matches no route.
  notFoundComponent: () => alone(<NotFoundPage />),
});

const authRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/auth',
  validateSearch: z.object({ next: parameter(text), tab: parameter(z.enum(['login', 'register'])) }),
  beforeLoad: async ({ search: { next } }) => {
    const user = await queryClient.ensureQueryData(userQuery);
    // After a session has ended, the user is still in the cache for the screens that are open.
    if (user !== null && !isSignedOut()) throw redirect({ href: ownPath(next), replace: true });
  },
  component: lazyPart(async () => (await import('./features/accounts/auth-page.tsx')).AuthPage),
});

const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/auth/reset',
  validateSearch: z.object({ token: parameter(text) }),
  component: lazyPart(async () => (await import('./features/accounts/email-link-pages.tsx')).ResetPage),
});

/** Redirects visitors to the login page, which returns here afterwards. */
async function requireUser({ location }: { readonly location: { readonly href: string } }): Promise<void> {
  const user = await queryClient.ensureQueryData(userQuery);
  if (user !== null) return;
  throw redirect({ ...loginPage(location.href), replace: true });
}

const verifyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/auth/verify',
  validateSearch: z.object({ token: parameter(text) }),
  // The link alone is no proof: it requires a session of the account that it was sent to.
  beforeLoad: requireUser,
  component: lazyPart(async () => (await import('./features/accounts/email-link-pages.tsx')).VerifyPage),
});

/** The pages with the app's layout. They require a login. */
const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  beforeLoad: requireUser,
  component: AppLayout,
});

const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  component: lazyPart(async () => (await import('./features/endpoints/home-page.tsx')).HomePage),
});

const endpointRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/endpoints/$uid',
  validateSearch: z.object({
    /** Index of the selected request. Unlike the id, it does not change when the request is saved. */
    request: parameter(z.int().min(0)),
    /** Tab of the details; by default the initial tab of the request. */
    tab: parameter(z.enum(['json', 'headers', 'query', 'raw', 'deliveries'])),
    filter: parameter(z.enum(['all', 'get', 'post', 'put', 'delete'])),
    /** Query of the list's filter: docs/query-language.md. */
    find: parameter(text.pipe(z.string().max(MAX_QUERY_LENGTH))),
    /** Index of the request to compare with. */
    compare: parameter(z.int().min(0)),
  }),
  component: lazyPart(async () => (await import('./shell/endpoint-page.tsx')).EndpointPage, <EndpointLoading />),
});

const searchRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/search',
  validateSearch: z.object({
    q: parameter(text),
    /** The uid of the only endpoint to search. */
    endpoint: parameter(text),
  }),
  component: lazyPart(async () => (await import('./features/search/search-page.tsx')).SearchPage),
});

/**
 * Waits for what the server offers, because parts of these pages depend on it and would move the others if they appeared
 * later. Without an answer, the pages do without these parts.
 */
async function loadServiceInfo(): Promise<void> {
  await queryClient.ensureQueryData(serviceInfoQuery).catch(() => undefined);
}

const profileRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/profile',
  loader: loadServiceInfo,
  validateSearch: z.object({ tab: parameter(z.enum(['profile', 'security', 'subscription'])) }),
  component: lazyPart(async () => (await import('./shell/profile-page.tsx')).ProfilePage),
});

const settingsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/settings',
  loader: loadServiceInfo,
  component: lazyPart(async () => (await import('./features/settings/settings-page.tsx')).SettingsPage),
});

const subscriptionRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/subscription',
  loader: loadServiceInfo,
  validateSearch: z.object({
    /** Set by the payment provider when it redirects back from a checkout. */
    checkout: parameter(z.enum(['success', 'canceled'])),
  }),
  component: lazyPart(async () => (await import('./features/billing/subscription-page.tsx')).SubscriptionPage),
});

/** The test gateway takes the place of another site, so its pages don't have the app's layout. */
const testCheckoutRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/billing/test/checkout/$id',
  beforeLoad: requireUser,
  component: lazyPart(
    async () => (await import('./features/billing/test-gateway/test-checkout-page.tsx')).TestCheckoutPage,
  ),
});

const testPortalRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/billing/test/portal',
  validateSearch: z.object({ return: parameter(text) }),
  beforeLoad: requireUser,
  component: lazyPart(
    async () => (await import('./features/billing/test-gateway/test-portal-page.tsx')).TestPortalPage,
  ),
});

/** Any other path shows the 404 page. */
const missingRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '$',
  component: NotFoundPage,
});

const routeTree = rootRoute.addChildren([
  authRoute,
  resetRoute,
  verifyRoute,
  testCheckoutRoute,
  testPortalRoute,
  signedInRoute.addChildren([
    homeRoute,
    endpointRoute,
    searchRoute,
    profileRoute,
    settingsRoute,
    subscriptionRoute,
    missingRoute,
  ]),
]);

/** Milliseconds that the page waits for the user before it says that it loads. */
const PENDING_AFTER_MS = 300;

export const router = createRouter({
  routeTree,
  parseSearch,
  // On the page of an endpoint, the list keeps its own place.
  scrollRestoration: ({ location }) => !location.pathname.startsWith('/endpoints/'),
  scrollToTopSelectors: ['#main'],
  defaultPreload: 'intent',
  defaultErrorComponent: LoadFailed,
  defaultPendingComponent: StartPage,
  defaultPendingMs: PENDING_AFTER_MS,
  defaultPendingMinMs: 0,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** Milliseconds after the load event before other pages are preloaded, so that the first action is not delayed. */
const PRELOAD_AFTER_MS = 3000;

/** Preloads the other pages when the browser is idle, so that they open at once, even offline. */
export function preloadPages(): void {
  setTimeout(() => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => void preloadParts(), { timeout: 5000 });
    else void preloadParts();
  }, PRELOAD_AFTER_MS);
}
