import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { isSignedOut } from '../api/connection.ts';
import { queryClient } from '../api/query-client.ts';
import { userQuery } from '../api/queries.ts';
import { ownPath } from '../model/own-path.ts';
import { AppLayout } from './layout/app-layout.tsx';
import { RootLayout } from './layout/root-layout.tsx';
import { LoadFailed, RootFailed } from './pages/load-failed.tsx';
import * as search from './search-params.ts';
import { pages } from './pages.ts';

const rootRoute = createRootRoute({ component: RootLayout, errorComponent: RootFailed });

const authRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/auth',
  validateSearch: search.authSearchSchema,
  beforeLoad: async ({ search: { next } }) => {
    const user = await queryClient.ensureQueryData(userQuery);
    // A session that ended is still in the cache, for the screens that it left behind.
    if (user !== null && !isSignedOut()) throw redirect({ href: ownPath(next), replace: true });
  },
  component: pages.AuthPage,
});

const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/auth/reset',
  validateSearch: search.tokenSearchSchema,
  component: pages.ResetPage,
});

/** Sends a visitor to the login page, which leads back here afterwards. */
async function requireUser({ location }: { readonly location: { readonly href: string } }): Promise<void> {
  const user = await queryClient.ensureQueryData(userQuery);
  if (user !== null) return;
  throw redirect({ to: '/auth', search: location.href === '/' ? {} : { next: location.href }, replace: true });
}

const verifyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/auth/verify',
  validateSearch: search.tokenSearchSchema,
  // The link alone proves nothing: it takes a session of the account that it was mailed for.
  beforeLoad: requireUser,
  component: pages.VerifyPage,
});

/** The test gateway represents another site: its pages have none of the app around them. */
const testCheckoutRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/billing/test/checkout/$id',
  beforeLoad: requireUser,
  component: pages.TestCheckoutPage,
});

const testPortalRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/billing/test/portal',
  validateSearch: search.testPortalSearchSchema,
  beforeLoad: requireUser,
  component: pages.TestPortalPage,
});

/** Everything else is behind the sign-in (spec 2). */
const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  beforeLoad: requireUser,
  component: AppLayout,
});

const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  component: pages.HomePage,
});

const endpointRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/endpoints/$uid',
  validateSearch: search.endpointSearchSchema,
  component: pages.EndpointPage,
});

const searchRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/search',
  validateSearch: search.searchSearchSchema,
  component: pages.SearchPage,
});

const profileRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/profile',
  validateSearch: search.profileSearchSchema,
  component: pages.ProfilePage,
});

const settingsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/settings',
  component: pages.SettingsPage,
});

const subscriptionRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/subscription',
  validateSearch: search.subscriptionSearchSchema,
  component: pages.SubscriptionPage,
});

/** Any other path is the signed-in 404 page (spec 2). */
const missingRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '$',
  component: pages.NotFoundPage,
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

export const router = createRouter({ routeTree, defaultPreload: 'intent', defaultErrorComponent: LoadFailed });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
