import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import { expectCalm, openBrowser, type ConsoleBrowser, type ConsolePage } from './browser.ts';
import { openDeskApi, type DeskApi } from './desk-api.ts';
import { startDesk, type DeskPlane } from './desk-plane.ts';
import { expectGoodLook, LOOKS } from './looks.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202Ejs.exe';

let plane: DeskPlane;
let browser: ConsoleBrowser;
let desk: ConsolePage;
let api: DeskApi;
beforeAll(async () => {
  plane = await startDesk();
  browser = await openBrowser(plane);
  api = await openDeskApi(plane, browser);
  await api.call('desk.fails', { text: HOSTILE }, { subject: 'mallory' });
  await api.call('desk.lookup', { text: 'to be forgotten' }, { subject: 'gone' });
  await api.call('desk.lookup', { text: 'kept' });
  await plane.cli('audit', 'erase', '--subject', 'gone', '--yes');
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

const open = async (subject: string): Promise<string> => {
  await desk.open(`/console/audit?subject=${subject}&event=call.settled`);
  await desk.page.getByRole('button', { name: 'call.settled' }).click();
  return desk.page.getByRole('dialog').innerText();
};

describe('the audit page', () => {
  it('finds records by what they are about, and keeps the search in its address', async () => {
    await desk.open('/console/audit');
    const rows = desk.page.getByRole('region', { name: 'Records' }).getByRole('row');
    await rows.nth(3).waitFor();
    await desk.page.locator('select[name=outcome]').selectOption('not-ok');
    await desk.page.getByRole('button', { name: 'Search' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.nth(1).innerText()).toContain('desk.fails');
    expect(new URL(desk.page.url()).searchParams.get('outcome')).toBe('not-ok');
    await desk.page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(4);
    await desk.page.locator('select[name=event]').selectOption('login.succeeded');
    await desk.page.getByRole('button', { name: 'Search' }).click();
    await expect.poll(() => rows.nth(1).innerText()).toContain('by bearer of a login link');
  });

  it('shows the whole record, and what others wrote as text only', async () => {
    const text = await open('mallory');
    expect(text).toContain('<img src=x onerror=alert(1)>\\u{202e}js.exe');
    expect(text).toMatch(/Ended\s+failed/);
    expect(text).toMatch(/Number in its lane\s+\d+/);
    expect(text).toMatch(/Chain\s+[0-9a-f]{64}/);
    expect(await desk.page.locator('main img, dialog img').count()).toBe(0);
  });

  it('says of an erased payload that it was erased', async () => {
    const text = await open('gone');
    expect(text).toContain('erased on purpose');
    expect(text).not.toContain('forgotten');
  });

  it('verifies the chain when asked to', async () => {
    await desk.open('/console/audit');
    await desk.page.getByText('not verified yet').waitFor();
    await desk.page.getByRole('button', { name: 'Verify now' }).click();
    await desk.page.locator('.verification-state').getByText('whole').waitFor();
    expect(await desk.page.locator('.verification-state').innerText()).toMatch(/\d+ records, verified/);
  });

  it('turns pages by keys, the newest first', async () => {
    for (let index = 0; index < 52; index += 1)
      await api.call('desk.lookup', { text: `${index}` }, { subject: 'many' });
    await desk.open('/console/audit?subject=many&event=call.settled');
    const rows = desk.page.getByRole('region', { name: 'Records' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(51);
    await desk.press('n');
    await expect.poll(() => rows.count()).toBe(3);
    await desk.press('p');
    await expect.poll(() => rows.count()).toBe(51);
  });

  it.each(LOOKS)('looks good: %s', async (...look) => {
    await expectGoodLook(browser, look, {
      name: 'audit',
      path: '/console/audit',
      prepare: ({ page }) => page.getByRole('button', { name: 'call.settled' }).first().waitFor(),
    });
    await expectGoodLook(browser, look, {
      name: 'audit-record',
      path: '/console/audit?subject=mallory',
      prepare: async ({ page }) => {
        await page.getByRole('button', { name: 'call.settled' }).first().click();
        await page.getByRole('dialog').waitFor();
      },
    });
  });
});
