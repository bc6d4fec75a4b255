import type { Handlers } from '../../http/call.ts';
import { mailedLinkHandlers } from './mailed-link-routes.ts';
import { profileHandlers } from './profile-routes.ts';
import { sessionHandlers } from './session-routes.ts';
import { loginHandlers } from './login-routes.ts';

/** All calls about accounts. */
export const accountHandlers = {
  ...loginHandlers,
  ...profileHandlers,
  ...sessionHandlers,
  ...mailedLinkHandlers,
} satisfies Handlers;
