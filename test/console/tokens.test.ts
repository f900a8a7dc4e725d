import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import { expectCalm, openBrowser, type ConsoleBrowser, type ConsolePage } from './browser.ts';
import { openDeskApi } from './desk-api.ts';
import { signIn, startDesk, type DeskPlane } from './desk-plane.ts';
import { expectGoodLook, LOOKS } from './looks.ts';

let plane: DeskPlane;
let browser: ConsoleBrowser;
let desk: ConsolePage;
beforeAll(async () => {
  plane = await startDesk();
  browser = await openBrowser(plane);
  const api = await openDeskApi(plane, browser);
  await api.call('desk.lookup', { text: 'x' }, { agent: 'support', subject: 'lena' });
  await api.call('desk.lookup', { text: 'x' }, { agent: 'billing', subject: 'omar' });
});
afterAll(async () => {
  await browser.close();
  await plane.stop();
  failOnLeaks();
});
beforeEach(async () => {
  desk = await browser.signIn();
});
afterEach(async () => {
  expectCalm(desk);
  await desk.close();
});

const statusOf = async (token: string): Promise<number> =>
  (await fetch(`${plane.url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;

describe('the tokens page', () => {
  it('makes a token, shows it once, and locks its bearer out again', async () => {
    await desk.open('/console/tokens');
    await desk.page.getByRole('button', { name: 'New token' }).click();
    await desk.page.getByLabel('Name, for people').fill('laptop');
    await desk.page.getByLabel(/^agent:/).uncheck();
    await desk.page.getByLabel(/^operator:/).check();
    await desk.page.getByRole('button', { name: 'Make it' }).click();
    const text = await desk.page.getByLabel('Token', { exact: true }).inputValue();
    expect(await statusOf(text)).toBe(200);
    await desk.page.getByRole('button', { name: 'I have it' }).click();
    expect(await desk.page.getByLabel('Token', { exact: true }).count()).toBe(0);
    expect(await desk.page.content()).not.toContain(text.slice(-43));
    await desk.page.getByRole('button', { name: 'Revoke laptop' }).click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await desk.page.getByText('The token is revoked.').waitFor();
    await expect.poll(() => statusOf(text)).toBe(401);
  });

  it('lists no login link that was used', async () => {
    const { stdout } = await plane.cli('gateway', 'login-link', '--name', 'rosa');
    await desk.open('/console/tokens');
    await desk.page.getByRole('row', { name: /rosa.*a login link, not used yet/ }).waitFor();
    await signIn(plane.url, /login#(\S+)/.exec(stdout)?.[1] ?? '');
    await desk.page.reload();
    await desk.page.getByRole('row', { name: /rosa.*a login to the console/ }).waitFor();
    expect(await desk.page.getByRole('row', { name: /rosa/ }).count()).toBe(1);
  });

  it('says in the dialog why a token could not be made', async () => {
    await desk.open('/console/tokens');
    await desk.page.getByRole('button', { name: 'New token' }).click();
    await desk.page.getByLabel('Name, for people').fill('approver');
    await desk.page.getByLabel(/^agent:/).uncheck();
    await desk.page.getByLabel(/^approver:/).check();
    await desk.page.getByLabel(/^Decides as/).fill('no-slash');
    await desk.page.getByRole('button', { name: 'Make it' }).click();
    expect(await desk.page.getByRole('dialog').getByRole('alert').innerText()).toContain('decidesAs');
  });

  it('lists open sessions and revokes one', async () => {
    await desk.open('/console/tokens?view=sessions');
    // All ids of one subject begin alike, so their ends are shown.
    const id = desk.page.locator('td[data-title="Session"] [title]').first();
    expect(await id.innerText()).toBe(`…${(await id.getAttribute('title'))!.slice(-8)}`);
    const revoke = desk.page.getByRole('button', { name: 'Revoke the session of support for lena' }).first();
    await revoke.click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await desk.page.getByText('The session is revoked.').waitFor();
    // The list is loaded again after the message appeared.
    await expect.poll(() => desk.page.getByText('revoked', { exact: true }).count()).toBeGreaterThan(0);
  });

  it.each(LOOKS)('looks good: %s', async (...look) => {
    await expectGoodLook(browser, look, {
      name: 'tokens',
      path: '/console/tokens',
      prepare: ({ page }) => page.getByRole('region', { name: 'Tokens' }).waitFor(),
    });
    await expectGoodLook(browser, look, {
      name: 'sessions',
      path: '/console/tokens?view=sessions',
      prepare: ({ page }) => page.getByRole('region', { name: 'Sessions' }).waitFor(),
    });
  });
});
