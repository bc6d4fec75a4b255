// oxlint-disable-next-line import/no-unassigned-import -- imported for what it does to the page
import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isServerReachable } from './api/client.ts';
import { queryClient } from './api/query-client.ts';
import { followTheme } from './features/settings/theme.ts';
import { router } from './router.tsx';
import { shareNonce } from './shell/page-nonce.ts';
import { preloadPages } from './shell/pages.ts';
import { Toaster } from './shell/toaster.tsx';
import { TooltipProvider } from './ui/button.tsx';
import { listenForShortcuts } from './ui/commands.ts';
import { setServerCheck } from './ui/lazy-part.tsx';

shareNonce();
followTheme();
listenForShortcuts();
setServerCheck(isServerReachable);

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
