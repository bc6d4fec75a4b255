import type { Handlers } from './call.ts';
import { mailedLinkHandlers } from './mailed-link-handlers.ts';
import { profileHandlers } from './profile-handlers.ts';
import { sessionHandlers } from './session-handlers.ts';
import { settingsHandlers } from './settings-handlers.ts';
import { signInHandlers } from './sign-in-handlers.ts';

/** Every call around the person. */
export const accountHandlers = {
  ...signInHandlers,
  ...profileHandlers,
  ...sessionHandlers,
  ...settingsHandlers,
  ...mailedLinkHandlers,
} satisfies Handlers;
