import { escapeHtml } from '../mail/message.ts';

/** The name that both sides know: the window's channel and the type of its message. See the web app's model/provider-message.ts. */
export const PROVIDER_CHANNEL = 'creel-sign-in';
export const CALLBACK_SCRIPT_PATH = '/auth/oidc/callback.js';

/** What the window tells the page that opened it. Proof of nothing: the server compares it with what it has verified. */
export interface ProviderMessage {
  readonly type: typeof PROVIDER_CHANNEL;
  readonly identity?: { readonly email: string | null; readonly displayName: string | null; readonly uid: string };
  readonly problem?: string;
  readonly message?: string;
}

/** The page that the provider's window ends on. Its message stands in an attribute: the policy allows no inline script. */
export function callbackPage(message: ProviderMessage, nonce: string): string {
  const words = message.message ?? 'Signed in. This window closes by itself.';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign-in</title>
<script src="${CALLBACK_SCRIPT_PATH}" nonce="${nonce}" defer></script>
</head>
<body data-message="${escapeHtml(JSON.stringify(message))}">
<p>${escapeHtml(words)}</p>
<p><a href="/auth">Back to Creel</a></p>
</body>
</html>
`;
}

/**
 * Tells the opener, and closes. By channel as well: where the provider's pages cut the window from its opener, only that is left.
 * Both reach our own origin alone. The code in the address is spent; it leaves the history all the same.
 */
export const CALLBACK_SCRIPT = `'use strict';
{
  const message = JSON.parse(document.body.dataset.message);
  history.replaceState(null, '', '/auth/oidc/callback');
  if (window.opener) window.opener.postMessage(message, location.origin);
  const channel = new BroadcastChannel('${PROVIDER_CHANNEL}');
  channel.postMessage(message);
  channel.close();
  setTimeout(() => window.close(), message.identity ? 0 : 3000);
}
`;
