// oxlint-disable-next-line import/no-unassigned-import -- imported for what it does to the page
import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isServerReachable } from './api/outage.ts';
import { serviceInfoQuery } from './api/queries.ts';
import { queryClient } from './api/query-client.ts';
import { followTheme } from './features/settings/theme.tsx';
import { router, preloadPages } from './router.tsx';
import { PartFailed } from './shell/error-pages.tsx';
import { Toaster } from './shell/toaster.tsx';
import { TooltipProvider } from './ui/button.tsx';
import { listenForShortcuts } from './ui/commands.ts';
import { followFocus } from './ui/focus.ts';
import { configureParts } from './ui/lazy-part.tsx';

// Radix locks scrolling behind a dialog with a style element, whose nonce get-nonce looks for here. Browsers hide the
// attribute from scripts, but not the property. The development server sets none.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
Reflect.set(globalThis, '__webpack_nonce__', nonce === '' ? undefined : nonce);
followTheme();
listenForShortcuts();
followFocus();
configureParts({ isServerReachable, Failed: PartFailed });

// Loaded with the user, because parts of several pages depend on it and would move the page if they appeared later.
void queryClient.prefetchQuery(serviceInfoQuery);

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider>
          <RouterProvider router={router} />
          <Toaster />
        </TooltipProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}

addEventListener('load', preloadPages);
