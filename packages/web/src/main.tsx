// oxlint-disable-next-line import/no-unassigned-import -- imported for what it does to the page
import './styles.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { preloadPages } from './app/pages.ts';
import { shareNonce } from './ui/page-nonce.ts';
import { listenForKeys } from './commands/keys.ts';
import { followTheme } from './preferences/theme.ts';

shareNonce();
followTheme();
listenForKeys();

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

addEventListener('load', preloadPages);
