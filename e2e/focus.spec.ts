// Keyboard users keep their place: the focus survives closed dialogs, removed elements and running actions.
import type { Page } from '@playwright/test';
import { expect, pressEscape, test } from './app.ts';
import {
  createDestination,
  createEndpoint,
  detailsOf,
  filterField,
  goLive,
  goTo,
  list,
  openLive,
  row,
  selectionBar,
  send,
  sendJson,
} from './endpoints.ts';
import { PHONE, holdCalls } from './pages.ts';

// With animations, a closed dialog stays for a moment.
test.use({ contextOptions: { reducedMotion: 'no-preference' } });

/** A short description of the focused element. */
const place = (page: Page): Promise<string> =>
  page.evaluate(`(() => { const e = document.activeElement; return e === document.body ? 'nowhere' : e.tagName; })()`);

test('dialogs, menus and switches keep the focus or return it', async ({ page, person, endpoint }) => {
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
  await send(endpoint.url, { body: '{}', headers });
  await openLive(page, endpoint);
  const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'));

  await test.step('a dialog that removes its opener returns the focus to the part around it', async () => {
    await page.getByRole('button', { name: 'Check the signature…' }).press('Enter');
    await page.getByRole('dialog').getByLabel('Secret', { exact: true }).fill('a secret');
    await page.keyboard.press('Enter');
    await expect(page.getByText('Signature invalid')).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect.poll(() => place(page)).not.toBe('nowhere');
    await page.keyboard.press('Tab');
    await expect(detailsOf(page, 0).getByRole('button', { name: 'Save' })).toBeFocused();
  });

  await test.step('a closed dialog returns the focus', async () => {
    const header = page.getByRole('main');
    for (const [name, leave] of [
      ['Clear Data', 'Escape'],
      ['Delete', 'Cancel'],
      ['New Endpoint', 'Escape'],
      ['Edit name and source', 'Close'],
    ] as const) {
      const button = header.getByRole('button', { name, exact: true }).first();
      await button.focus();
      await page.keyboard.press('Enter');
      await expect(dialog).toBeVisible();
      if (leave === 'Escape') await pressEscape(page);
      else await dialog.getByRole('button', { name: leave }).first().press('Enter');
      await expect(dialog).toHaveCount(0);
      await expect(button, name).toBeFocused();
    }
    for (const key of ['?', 'Control+k', 'n']) {
      await list(page).focus();
      await page.keyboard.press(key);
      await expect(dialog).toBeVisible();
      await pressEscape(page);
      await expect(dialog).toHaveCount(0);
      await expect(list(page), key).toBeFocused();
    }
  });

  await test.step('a canceled question opens no tooltip, which Escape would close before the dialog below it', async () => {
    const { id } = await createDestination(page, endpoint, { url: 'http://127.0.0.1:9/orders', enabled: false });
    await page.getByRole('button', { name: 'Forward', exact: true }).press('Enter');
    const remove = dialog.getByRole('button', { name: 'Delete destination' });
    await remove.press('Enter');
    await expect(page.getByRole('alertdialog')).toBeVisible();
    await pressEscape(page);
    await expect(remove).toBeFocused();
    await expect(page.getByRole('tooltip')).toHaveCount(0);
    await pressEscape(page);
    await expect(dialog).toHaveCount(0);
    // The Tab key opens it.
    const edit = page.getByRole('button', { name: 'Edit name and source' });
    await edit.focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    await expect(edit).toBeFocused();
    await expect(page.getByRole('tooltip')).toHaveText('Edit name and source');
    await page.keyboard.press('Escape');
    await page.request.delete(`/api/endpoints/${endpoint.uid}/destinations/${id}`);
  });

  await test.step('a dialog that replaces another one returns the focus to where the first one was opened', async () => {
    const forward = page.getByRole('button', { name: 'Forward', exact: true });
    await forward.press('Enter');
    await dialog.getByRole('button', { name: 'Add destination' }).press('Enter');
    await expect(dialog.getByLabel('URL')).toBeFocused();
    await pressEscape(page);
    await expect(forward).toBeFocused();
    await forward.press('Enter');
    const add = dialog.getByRole('button', { name: 'Add destination' });
    await add.press('Enter');
    await dialog.getByRole('button', { name: 'Back' }).press('Enter');
    await expect(add, 'after Back').toBeFocused();
    await pressEscape(page);
    await expect(forward).toBeFocused();
    await list(page).focus();
    await page.keyboard.press('Control+k');
    await expect(dialog.getByRole('combobox')).toBeFocused();
    await page.keyboard.type('create endpoint');
    await page.keyboard.press('Enter');
    await expect(dialog.getByLabel('Endpoint Name (Optional)')).toBeFocused();
    await pressEscape(page);
    await expect(list(page)).toBeFocused();
  });

  await test.step('a shown body is one stop of the Tab key', async () => {
    await detailsOf(page, 0).getByRole('tab', { name: 'JSON' }).focus();
    for (const name of ['Search inside', 'Copy what is shown']) {
      await page.keyboard.press('Tab');
      await expect(detailsOf(page, 0).getByRole('button', { name })).toBeFocused();
    }
    await page.keyboard.press('Tab');
    await expect(page.getByRole('tree', { name: 'Body as JSON' })).toBeFocused();
  });

  await test.step('a button that resets the body of a replay leaves the focus in the body', async () => {
    await page.keyboard.press('r');
    const body = page.getByRole('region', { name: 'Body of the replay' });
    await body.getByLabel('Body', { exact: true }).fill('{}!');
    await body.getByRole('button', { name: 'Back to the captured body' }).press('Enter');
    await expect(body.getByLabel('Body', { exact: true })).toBeFocused();
    await page.getByRole('button', { name: 'Replay Request' }).press('Enter');
  });

  await test.step('an item of a menu can move the focus', async () => {
    await page.getByRole('button', { name: 'More actions' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Search inside' }).press('Enter');
    await expect(page.getByRole('textbox', { name: 'Search inside' })).toBeFocused();
    await page.getByRole('button', { name: 'More actions' }).press('Enter');
    await pressEscape(page);
    await expect(page.getByRole('button', { name: 'More actions' })).toBeFocused();
  });

  await test.step('a control ignores presses while its action runs', async () => {
    const path = /\/api\/endpoints\/[\w-]+$/;
    const change = await holdCalls(page, path, 'PATCH');
    const autosave = page.getByRole('switch', { name: 'Autosave' });
    const was = await autosave.isChecked();
    await autosave.focus();
    await page.keyboard.press('Space');
    await expect(autosave).toBeDisabled();
    await page.keyboard.press('Space');
    change.release();
    await expect(autosave).toBeEnabled();
    await expect(autosave).toBeChecked({ checked: !was });
    expect(change.count()).toBe(1);
    await page.unroute(path);
  });

  await test.step('a switch or button keeps the focus while its action runs', async () => {
    const autosave = page.getByRole('switch', { name: 'Autosave' });
    await autosave.focus();
    const was = await autosave.isChecked();
    for (const isOn of [!was, was]) {
      await page.keyboard.press('Space');
      await expect(autosave).toBeChecked({ checked: isOn });
      await expect(autosave).toBeEnabled();
      await expect(autosave).toBeFocused();
    }
    const details = detailsOf(page, 0);
    const saveRequest = details.getByRole('button', { name: 'Save', exact: true });
    await saveRequest.focus();
    await page.keyboard.press('Enter');
    await expect(saveRequest).toBeDisabled();
    await expect(saveRequest).toBeFocused();

    await goTo(page, '/settings');
    const save = page.getByRole('button', { name: 'Save Settings' });
    await save.focus();
    await page.keyboard.press('Enter');
    await expect(page.getByText('Settings Saved').first()).toBeVisible();
    await expect(save).toBeEnabled();
    await expect(save).toBeFocused();
    const testMail = page.getByRole('button', { name: 'Send Test Email' });
    await page.getByLabel('Email', { exact: true }).fill(person.email);
    await testMail.focus();
    const answered = page.waitForResponse(/email/i);
    await page.keyboard.press('Enter');
    await answered;
    await expect(testMail).toBeEnabled();
    await expect(testMail).toBeFocused();
  });

  await test.step('a closed dialog of the dashboard returns the focus', async () => {
    await goTo(page, '/');
    const create = page.getByRole('main').getByRole('button', { name: 'Create Endpoint' });
    await create.focus();
    await page.keyboard.press('Enter');
    await expect(dialog).toBeVisible();
    await pressEscape(page);
    await expect(create).toBeFocused();
  });

  await test.step('the keyboard reaches the reason why nothing can be sent to a destination', async () => {
    await page.request.delete(`/api/endpoints/${endpoint.uid}/requests`);
    await createDestination(page, endpoint, { url: 'http://127.0.0.1:9' });
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Forward', exact: true }).press('Enter');
    await dialog.getByRole('switch').focus();
    await page.keyboard.press('Tab');
    const button = dialog.getByRole('button', { name: 'Test with the newest request' });
    await expect(button).toBeFocused();
    await expect(button).toHaveAccessibleDescription('There is no request to test with');
    const edit = dialog.getByRole('button', { name: 'Edit destination' });
    await edit.press('Enter');
    await dialog.getByRole('button', { name: 'Back' }).press('Enter');
    await expect(edit, 'after Back').toBeFocused();
  });
});

test('the list gets the focus back from its actions, fields and the comparison', async ({ page, endpoint }) => {
  const { release } = await holdCalls(page, /\/assets\/compare-view-.*\.js$/);
  for (let at = 0; at < 5; at++) await sendJson(endpoint.url, { at });
  await openLive(page, endpoint);
  page.on('dialog', (dialog) => void dialog.accept());

  await test.step('a click beside a field does not lead into it when a request arrives', async () => {
    await page.keyboard.press('r');
    const body = page.getByRole('region', { name: 'Body of the replay' });
    await body.click({ position: { x: 10, y: 2 } });
    await expect(body).toBeFocused();
    await sendJson(endpoint.url, { at: 5 });
    await expect(row(page, 5)).toBeVisible();
    await expect(body).toBeFocused();
    await page.getByRole('button', { name: 'Replay Request' }).click();
    await expect(body).toHaveCount(0);
  });

  await test.step('the comparison takes the focus and returns it to the list, also if its code arrives late', async () => {
    for (const index of [1, 0]) await row(page, index).click({ modifiers: ['Control'] });
    await selectionBar(page).getByRole('button', { name: 'Compare' }).press('Enter');
    await expect.poll(() => place(page)).toBe('MAIN');
    release();
    const compare = page.getByRole('region', { name: 'Compare requests' });
    await expect(compare).toBeFocused();
    await compare.getByRole('button', { name: 'Back' }).press('Enter');
    await expect(list(page)).toBeFocused();
    await page.keyboard.press('Escape');
  });

  await test.step('a saved row, a deleted row, a left field and a closed search move the focus on', async () => {
    await row(page, 2).click();
    await expect(detailsOf(page, 2)).toBeVisible();
    await row(page, 2).getByRole('button', { name: 'Save request' }).press('Enter');
    const remove = row(page, 2).getByRole('button', { name: 'Delete request' });
    await expect(remove).toBeVisible();
    await expect(list(page)).toBeFocused();
    await remove.focus();
    await page.keyboard.press('Enter');
    await expect(row(page, 2)).toHaveCount(0);
    await expect(list(page)).toBeFocused();
    await expect(row(page, 1)).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('ArrowDown');
    await expect(row(page, 0)).toHaveAttribute('aria-selected', 'true');

    await page.keyboard.press('/');
    await expect(filterField(page)).toBeFocused();
    await page.keyboard.type('zzz');
    await expect(list(page)).toHaveCount(0);
    await pressEscape(page);
    await expect(list(page)).toBeFocused();
    await page.keyboard.press('/');
    await pressEscape(page);
    await expect(list(page)).toBeFocused();

    await page.keyboard.press('f');
    await expect(page.getByRole('textbox', { name: 'Search inside' })).toBeFocused();
    await pressEscape(page);
    await expect(page.getByRole('textbox', { name: 'Search inside' })).toHaveCount(0);
    await expect(list(page)).toBeFocused();
  });

  await test.step('bulk actions and filters without results leave the focus in the list', async () => {
    for (const [name, marks] of [
      ['Save', [4]],
      ['Delete', [4, 3]],
      ['Clear the selection', [1]],
    ] as const) {
      for (const index of marks) await row(page, index).click({ modifiers: ['Control'] });
      const bar = selectionBar(page);
      await bar.getByRole('button', { name }).press('Enter');
      if (name === 'Save') {
        await expect(bar.getByRole('button', { name })).toHaveCount(0);
        await expect(list(page), name).toBeFocused();
        await page.keyboard.press('Escape');
      }
      await expect(bar).toHaveCount(0);
      await expect(list(page), name).toBeFocused();
    }
    await page.getByRole('tab', { name: 'PUT' }).click();
    await page.getByRole('button', { name: 'Show all requests' }).press('Enter');
    await expect(row(page, 0)).toBeVisible();
    await expect(list(page)).toBeFocused();
    await filterField(page).fill('zzz');
    await page.getByRole('button', { name: 'Clear the filter' }).last().press('Enter');
    await expect(row(page, 0)).toBeVisible();
    await expect(list(page)).toBeFocused();
  });
});

test('above the list, the details have the focus until they close', async ({ page, endpoint }) => {
  for (let at = 0; at < 3; at++) await sendJson(endpoint.url, { at });
  await page.setViewportSize({ width: 900, height: 800 });
  await openLive(page, endpoint);

  await test.step('details above the list take the focus and return it', async () => {
    await list(page).focus();
    await page.keyboard.press('ArrowDown');
    const back = page.getByRole('button', { name: 'Back to the list' });
    await expect(back).toBeVisible();
    await page.keyboard.press('Tab');
    await expect(back).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(list(page)).toBeFocused();
  });

  await test.step('in a narrow window nothing below the details can be focused, and Escape returns to the list', async () => {
    await page.setViewportSize(PHONE);
    await row(page, 2).click();
    const details = detailsOf(page, 2);
    await expect(details).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(details).toHaveCount(0);
    await expect(list(page)).toBeFocused();
    await row(page, 2).click();
    await expect(details).toBeVisible();
    for (let step = 0; step < 30; step++) {
      await page.keyboard.press('Tab');
      const outside = await page.evaluate(
        `document.activeElement !== document.body && document.activeElement.closest('.fixed') === null && document.activeElement.closest('[aria-label^="Notifications"]') === null`,
      );
      expect(outside, await page.evaluate('document.activeElement.outerHTML.slice(0, 200)')).toBe(false);
    }
    await details.getByRole('button', { name: 'Back to the list' }).press('Enter');
    await expect(details).toHaveCount(0);
    await expect(list(page)).toBeFocused();
    await page.getByRole('button', { name: 'Open menu' }).focus();
    await expect(page.getByRole('button', { name: 'Open menu' })).toBeFocused();
  });
});

test('the focus is in the next page after a login, and in the list after the first request', async ({
  page,
  person,
}) => {
  await test.step('after logging out and in, the next page has the focus', async () => {
    await page.goto('/');
    await page.getByRole('button', { name: `Account of ${person.username}` }).press('Enter');
    await page.getByRole('menuitem', { name: 'Logout' }).press('Enter');
    await expect(page).toHaveURL(/\/auth/);
    await expect.poll(() => place(page)).toBe('MAIN');
    await page.getByLabel('Username').fill(person.username);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Login', exact: true }).press('Enter');
    await expect(page.getByText('No endpoints yet')).toBeVisible();
    await expect.poll(() => place(page)).toBe('MAIN');
  });

  await test.step('after the first test request the focus is in the list', async () => {
    const endpoint = await createEndpoint(page);
    await goLive(page, endpoint);
    await page.getByRole('button', { name: 'Send a test request' }).press('Enter');
    await expect(row(page, 0)).toBeVisible();
    await expect(list(page)).toBeFocused();
  });

  await test.step('a tab shows the focus ring for the keyboard, not for the pointer', async () => {
    // A click on the page ends the time in which the browser shows the ring because a key was pressed.
    await page.getByRole('heading', { level: 1 }).click();
    const clicked = page.getByRole('tab', { name: 'GET' });
    await clicked.click();
    await expect(clicked).toBeFocused();
    await expect(clicked).not.toHaveCSS('outline-style', 'solid');
    await clicked.press('ArrowRight');
    const next = page.getByRole('tab', { name: 'POST' });
    await expect(next).toBeFocused();
    await expect(next).toHaveCSS('outline-style', 'solid');
  });
});
