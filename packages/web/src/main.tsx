// oxlint-disable import/no-unassigned-import -- both are imported for what they do to the page
import './app/without-eval.ts';
import './styles.css';
// oxlint-enable import/no-unassigned-import
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
