import { ApiError } from '@creel/contract';

/**
 * Loads a part of the app. Without a connection its failure is that of a call, and is shown as one; the router, left to itself,
 * would reload a page that can't be reloaded.
 */
function part<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch((error: unknown) => {
      throw navigator.onLine ? error : new ApiError(0, 'This page could not be loaded. Please check your connection.');
    });
}

/** Every page, each in a file of its own that is loaded when it is first needed. */
export const pages = {
  AuthPage: part(() => import('./pages/auth-page.tsx')),
  ResetPage: part(() => import('./pages/reset-page.tsx')),
  VerifyPage: part(() => import('./pages/verify-page.tsx')),
  HomePage: part(() => import('./pages/home-page.tsx')),
  EndpointPage: part(() => import('./pages/endpoint-page.tsx')),
  SearchPage: part(() => import('./pages/search-page.tsx')),
  ProfilePage: part(() => import('./pages/profile-page.tsx')),
  SettingsPage: part(() => import('./pages/settings-page.tsx')),
  SubscriptionPage: part(() => import('./pages/subscription-page.tsx')),
  NotFoundPage: part(() => import('./pages/not-found-page.tsx')),
} as const;

/** Loads the pages that nobody has asked for yet, so that the next step does not wait, nor depend on the connection. */
export function preloadPages(): void {
  const load = async (): Promise<void> => {
    // One after the other: nothing here may get in the way of what the person does.
    for (const page of Object.values(pages)) await page().catch(() => undefined);
  };
  if ('requestIdleCallback' in globalThis) requestIdleCallback(() => void load(), { timeout: 5000 });
}
