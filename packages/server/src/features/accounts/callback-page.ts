import { escapeHtml } from '../mail/message.ts';

/** The window's channel and the type of its message. Must match the web app's provider message. */
export const PROVIDER_CHANNEL = 'creel-sign-in';
export const CALLBACK_SCRIPT_PATH = '/auth/oidc/callback.js';

/**
 * The message from the provider's window to the page that opened it. It proves nothing: the server compares it with the
 * identity that it has verified.
 */
export interface ProviderMessage {
  readonly type: typeof PROVIDER_CHANNEL;
  readonly identity?: { readonly email: string | null; readonly displayName: string | null; readonly uid: string };
  readonly problem?: string;
  readonly message?: string;
}

/**
 * The last page of the provider's window. Its message is in an attribute, because the policy allows no inline script.
 */
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
 * Sends the message to the opener and closes the window. Also uses a channel, because the provider's pages may cut the
 * window from its opener. Both reach our own origin only. The URL is removed from the history although its code is
 * already used.
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
