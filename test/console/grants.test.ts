import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { APPROVAL_LIMITS } from '../../src/domain/policy/approval.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { expectCalm, openBrowser, type ConsoleBrowser, type ConsolePage } from './browser.ts';
import { openDeskApi, type DeskApi } from './desk-api.ts';
import { startDesk, type DeskPlane } from './desk-plane.ts';
import { expectGoodLook, LOOKS } from './looks.ts';

let plane: DeskPlane;
let browser: ConsoleBrowser;
let desk: ConsolePage;
let api: DeskApi;
beforeAll(async () => {
  plane = await startDesk();
  browser = await openBrowser(plane);
  api = await openDeskApi(plane, browser);
  await allowAlways('desk.mail', mail, { matches: 'exact', uses: 5, lifetimeMs: 3_600_000 });
  await allowAlways('desk.refund', { payment: 'p1', amount: 5, currency: 'EUR' }, { matches: 'any', agentOnly: false });
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

const mail = { to: 'ada@example.com', subject: 'Offer', body: '' };

async function allowAlways(tool: string, args: object, grant: object): Promise<void> {
  const { id, binding } = await api.ask(tool, args);
  await api.send('POST', `/v1/approvals/${id}/decide`, { decision: 'allow-always', binding, grant });
}

describe('the grants page', () => {
  it('lists what each grant covers, for whom, how long and from which approval', async () => {
    await desk.open('/console/grants');
    const row = desk.page.getByRole('row', { name: /desk\.mail/ });
    await row.waitFor();
    const text = await row.innerText();
    expect(text).toContain('exactly the approved arguments');
    expect(text).toContain('lena');
    expect(text).toMatch(/5\d min \d+ s left/);
    expect(text).toMatch(/\b5\b/);
    const href = await row.getByRole('link', { name: 'from this approval' }).getAttribute('href');
    expect(href).toMatch(/^\/console\/approvals\/./);
  });

  it('is given for arguments that meet conditions; what is wrong stands beside the condition', async () => {
    const by = { agent: 'monthly', subject: 'ida' };
    await api.ask('desk.mail', { to: 'ada@example.com', subject: 'Report' }, by);
    await desk.open('/console/approvals');
    await desk.page.getByText('Report').first().click();
    await desk.ready();
    await desk.press('w');
    const dialog = desk.page.getByRole('dialog');
    expect(await dialog.getByLabel(/^For/).inputValue()).toBe(String(APPROVAL_LIMITS.defaultGrantMs));
    await dialog.getByLabel('Arguments that meet conditions').check();
    await dialog.getByRole('button', { name: 'Remove condition 1' }).click();
    const condition = dialog.getByRole('group', { name: 'Condition 1' });
    await condition.getByLabel('Argument').fill('no pointer');
    await dialog.getByRole('button', { name: 'Allow always' }).click();
    await condition.getByText('expected a JSON pointer').waitFor();
    expect(await desk.findings()).toEqual([]);
    await condition.getByLabel('Argument').fill('/to');
    await condition.getByLabel('Comparison').selectOption('glob');
    await condition.getByLabel('Value').fill('*@example.com');
    await dialog.getByRole('button', { name: 'Remove condition 2' }).click();
    await desk.picture('grant-form-light');
    await dialog.getByRole('button', { name: 'Allow always' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await api.call('desk.mail', { to: 'bob@example.com', subject: 'Other' }, by)).kind).toBe('ok');
    expect((await api.ask('desk.mail', { to: 'bob@example.org', subject: 'Other' }, by)).id).not.toBe('');
  });

  it('says that no grant was made when another decision came first', async () => {
    const { id, binding } = await api.ask('desk.mail', { to: 'ada@example.com', subject: 'Late' }, { subject: 'max' });
    await desk.page.route(`**/v1/approvals/${id}/decide`, async (route) => {
      await api.send('POST', `/v1/approvals/${id}/decide`, { decision: 'allow-once', binding });
      await route.continue();
    });
    await desk.open(`/console/approvals/${id}`);
    await desk.ready();
    await desk.press('w');
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Allow always' }).click();
    const said = desk.page.getByText('The first decision stands, and no grant was made.');
    expect(await said.innerText()).toContain('APPROVAL_ALREADY_DECIDED');
  });

  it('revokes a grant after asking once more: the next call asks a person again', async () => {
    expect((await api.call('desk.mail', mail)).kind).toBe('ok');
    await desk.open('/console/grants');
    const row = desk.page.getByRole('row').filter({ hasText: 'lena' });
    const revoke = row.getByRole('button', { name: 'Revoke the grant for desk.mail' });
    await revoke.click();
    await desk.press('Escape');
    await revoke.click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await desk.page.getByText('The grant is revoked.').waitFor();
    await revoke.waitFor({ state: 'detached' });
    const { id } = await api.ask('desk.mail', mail);
    expect(id).not.toBe('');
  });

  it.each(LOOKS)('looks good: %s', async (...look) => {
    await expectGoodLook(browser, look, {
      name: 'grants',
      path: '/console/grants',
      prepare: ({ page }) => page.getByText('desk.refund').first().waitFor(),
    });
  });
});
