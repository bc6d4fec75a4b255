import { lazyPart, preloadParts } from '../ui/lazy-part.tsx';

/** All pages. Each is loaded on first use. */
export const pages = {
  AuthPage: lazyPart(async () => (await import('../features/accounts/auth/auth-page.tsx')).AuthPage),
  ResetPage: lazyPart(async () => (await import('../features/accounts/auth/reset-page.tsx')).ResetPage),
  VerifyPage: lazyPart(async () => (await import('../features/accounts/auth/verify-page.tsx')).VerifyPage),
  HomePage: lazyPart(async () => (await import('../features/endpoints/home-page.tsx')).HomePage),
  EndpointPage: lazyPart(async () => (await import('./endpoint-page.tsx')).EndpointPage),
  SearchPage: lazyPart(async () => (await import('../features/search/search-page.tsx')).SearchPage),
  ProfilePage: lazyPart(async () => (await import('./profile-page.tsx')).ProfilePage),
  SettingsPage: lazyPart(async () => (await import('../features/settings/settings-page.tsx')).SettingsPage),
  SubscriptionPage: lazyPart(async () => (await import('../features/billing/subscription-page.tsx')).SubscriptionPage),
  TestCheckoutPage: lazyPart(
    async () => (await import('../features/billing/test-gateway/test-checkout-page.tsx')).TestCheckoutPage,
  ),
  TestPortalPage: lazyPart(
    async () => (await import('../features/billing/test-gateway/test-portal-page.tsx')).TestPortalPage,
  ),
  NotFoundPage: lazyPart(async () => (await import('./not-found-page.tsx')).NotFoundPage),
} as const;

/** Milliseconds after the load event before other pages are preloaded, so that the first action is not delayed. */
const PRELOAD_AFTER_MS = 3000;

/** Preloads the other pages when the browser is idle, so that they open at once, even offline. */
export function preloadPages(): void {
  setTimeout(() => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => void preloadParts(), { timeout: 5000 });
    else void preloadParts();
  }, PRELOAD_AFTER_MS);
}
