// Login, profile, settings, plans, search, and overlays.
import { heading, PHONE, problem } from '../pages.ts';
import { answering, changing, shows, waiting } from './scene.ts';
import type { Scene } from './scene.ts';

const auth: Scene[] = [
  { name: 'auth-login', play: async ({ open }) => shows(await open('visitor', '/auth'), 'Forgot your password?') },
  {
    name: 'auth-login-with-provider',
    play: async ({ open }) => {
      const signIn = { name: 'Google', startUrl: '/api/sign-in/start' };
      const page = await open('visitor', '/auth', changing('**/api/service', { signIn }));
      return shows(page, page.getByRole('button', { name: /Google/ }));
    },
  },
  {
    name: 'auth-login-refused',
    play: async ({ open }) => {
      const page = await open('visitor', '/auth');
      await page.getByLabel('Username').fill('marta');
      await page.getByLabel('Password').fill('not her password');
      await page.getByRole('button', { name: 'Login' }).click();
      return shows(page, 'Invalid username or password');
    },
  },
  {
    name: 'auth-register',
    play: async ({ open }) => shows(await open('visitor', '/auth?tab=register'), 'Confirm Password'),
  },
  {
    name: 'auth-register-errors',
    play: async ({ open }) => {
      const page = await open('visitor', '/auth?tab=register');
      await page.getByLabel('Username').fill('ab');
      await page.getByLabel('Email').fill('nowhere');
      await page.getByRole('button', { name: 'Register' }).click();
      return shows(page, 'Please enter a valid email address');
    },
  },
  {
    name: 'auth-forgot',
    play: async ({ open }) => {
      const page = await open('visitor', '/auth');
      await page.getByRole('button', { name: 'Forgot your password?' }).click();
      return shows(page, 'Email is off on this server');
    },
  },
  {
    name: 'auth-reset',
    play: async ({ open }) => {
      const page = await open('visitor', '/auth/reset?token=x');
      return shows(page, page.getByRole('heading', { level: 1 }));
    },
  },
  {
    name: 'auth-link-incomplete',
    play: async ({ open }) => shows(await open('visitor', '/auth/reset'), 'This link is not complete'),
  },
  {
    name: 'auth-verify',
    play: async ({ open }) => shows(await open('owner', '/auth/verify?token=x'), 'One click proves'),
  },
];

const person: Scene[] = [
  ...(['profile', 'security', 'subscription'] as const).map((tab) => ({
    name: `profile-${tab}`,
    play: async ({ open }: Parameters<Scene['play']>[0]) => {
      const page = await open('owner', `/profile?tab=${tab}`);
      return shows(page, page.getByRole('tab', { selected: true }));
    },
  })),
  {
    name: 'profile-password-error',
    play: async ({ open }) => {
      const page = await open('owner', '/profile?tab=security');
      await page.getByRole('button', { name: 'Change Password' }).click();
      return shows(page, 'All password fields are required');
    },
  },
  {
    name: 'settings',
    play: async ({ open }) => {
      const page = await open('owner', '/settings');
      return shows(page, page.getByRole('switch').first());
    },
  },
  {
    name: 'subscription',
    play: async ({ open }) => shows(await open('owner', '/subscription'), 'Current plan'),
  },
  {
    name: 'not-found',
    play: async ({ open }) => shows(await open('owner', '/no/such/page'), 'Page Not Found'),
  },
];

const search: Scene[] = [
  {
    name: 'search-empty',
    play: async ({ open }) => {
      const page = await open('owner', '/search');
      return shows(page, page.getByRole('combobox', { name: 'Search requests' }));
    },
  },
  {
    name: 'search-loading',
    play: async ({ open }) => {
      const page = await open('owner', '/search?q=customer', waiting('**/api/search?*'));
      return shows(page, page.getByRole('combobox', { name: 'Search requests' }));
    },
  },
  {
    name: 'search-results',
    play: async ({ open }) => {
      const page = await open('owner', '/search?q=customer');
      return shows(page, page.locator('mark').first());
    },
  },
  {
    name: 'search-long',
    play: async ({ open }) => {
      const page = await open('longwinded', '/search?q=part');
      return shows(page, page.locator('mark').first());
    },
  },
  {
    name: 'palette-long',
    play: async ({ open }) => {
      const page = await shows(await open('longwinded', '/'), 'Production_payments');
      await page.keyboard.press('ControlOrMeta+k');
      await page.keyboard.type('prod');
      return shows(page, page.getByRole('option', { selected: true }));
    },
  },
  {
    name: 'search-nothing',
    play: async ({ open }) => shows(await open('owner', '/search?q=nowhere+to+be+found'), 'Nothing found'),
  },
];

const over: Scene[] = [
  {
    name: 'palette',
    play: async ({ open }) => {
      const page = await shows(await open('owner', '/'), 'Order feed');
      await page.keyboard.press('ControlOrMeta+k');
      return shows(page, page.getByRole('dialog'));
    },
  },
  {
    name: 'palette-typed',
    play: async ({ open }) => {
      const page = await shows(await open('owner', '/'), 'Order feed');
      await page.keyboard.press('ControlOrMeta+k');
      await page.keyboard.type('str');
      return shows(page, page.getByRole('option', { selected: true }));
    },
  },
  {
    name: 'help',
    play: async ({ open }) => {
      const page = await open('owner', '/');
      await heading(page, 'Dashboard').waitFor();
      await page.keyboard.press('?');
      return shows(page, page.getByRole('dialog', { name: 'Keyboard shortcuts' }));
    },
  },
  {
    name: 'user-menu',
    perSize: true,
    play: async ({ open }) => {
      const page = await shows(await open('owner', '/'), 'Order feed');
      const menu = page.getByRole('button', { name: 'Open menu' });
      if (await menu.isVisible()) await menu.click();
      await page.getByRole('button', { name: 'Account of marta' }).click();
      return shows(page, page.getByRole('menuitem', { name: 'Logout' }));
    },
  },
  {
    name: 'mobile-menu',
    narrowOnly: true,
    play: async ({ open }) => {
      const page = await open('owner', '/');
      await page.setViewportSize(PHONE);
      await page.getByRole('button', { name: 'Open menu' }).click();
      return shows(page, page.getByRole('dialog', { name: 'Menu' }));
    },
  },
  {
    name: 'signed-out',
    play: async ({ open }) => {
      const refusal = problem('Sign in first', 'NOT_SIGNED_IN');
      const page = await open('owner', '/profile', answering('**/api/profile/username', refusal, 401));
      await page.getByLabel('Username').fill('typed before');
      await page.getByRole('button', { name: 'Update Username' }).click();
      return shows(page, page.getByRole('dialog'));
    },
  },
];

export const accountScenes: readonly Scene[] = [...auth, ...person, ...search, ...over];
