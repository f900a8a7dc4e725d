import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { expectCalm, openBrowser, type ConsoleBrowser } from './browser.ts';
import { startDesk, type DeskPlane } from './desk-plane.ts';

let plane: DeskPlane;
let browser: ConsoleBrowser;
beforeAll(async () => {
  plane = await startDesk();
  browser = await openBrowser(plane);
});
afterAll(async () => {
  await browser.close();
  await plane.stop();
  failOnLeaks();
});

describe('a console that stays open', () => {
  it('goes on by itself after the gateway was killed and started again', async () => {
    const approvals = await browser.signIn();
    const calls = await browser.signIn();
    const before = await plane.ask('desk.mail', { to: 'before@example.com', subject: 's' });
    await approvals.open('/console/approvals');
    await calls.open('/console/calls');
    await approvals.ready();
    await calls.page.getByText('Live', { exact: true }).waitFor();

    await plane.crash();
    await approvals.page.getByText('Reconnecting').waitFor();
    await calls.page.getByText('Reconnecting').waitFor();
    // The shown question stays, and the console says that the decision could not be sent.
    await approvals.press('a');
    await approvals.page.getByText('The gateway does not answer.').waitFor();
    expect(await approvals.page.locator('.question').innerText()).toContain('before@example.com');

    await plane.restart();
    await approvals.page.getByText('Live', { exact: true }).waitFor();
    await calls.page.getByText('Live', { exact: true }).waitFor();
    const after = await plane.ask('desk.mail', { to: 'after@example.com', subject: 's' });
    await approvals.page.locator('.approval-item').nth(1).waitFor();
    await calls.page.locator(`a[href$="${after}"]`).waitFor();

    await approvals.ready();
    await approvals.press('a');
    expect((await plane.untilSettled(before)).kind).toBe('ok');
    expect(plane.ran()).toMatchObject([{ tool: 'mail', args: { to: 'before@example.com' } }]);
    await calls.page
      .locator('tr', { has: calls.page.locator(`a[href$="${before}"]`) })
      .getByText('ok')
      .waitFor();
    expectCalm(approvals);
    expectCalm(calls);
    await approvals.close();
    await calls.close();
  });

  it('lets a person say what became of a call whose worker was killed', async () => {
    const callId = await plane.call('desk.hang', {});
    await eventually(() => plane.ran().some(({ tool }) => tool === 'hang'), { what: 'a start' });
    await plane.crash();
    await plane.restart();
    expect((await plane.untilSettled(callId)).kind).toBe('indeterminate');
    const desk = await browser.signIn();
    await desk.open(`/console/calls/${callId}`);
    await desk.page.getByRole('button', { name: 'Resolve …' }).click();
    await desk.page.getByRole('button', { name: 'It ran', exact: true }).click();
    await desk.page.getByText('it ran', { exact: true }).waitFor();
    expect(await desk.page.getByRole('button', { name: 'Resolve …' }).count()).toBe(0);
    expectCalm(desk);
    await desk.close();
  });

  it('asks who it is when its login ended, and goes on where it was', async () => {
    const desk = await browser.signIn();
    await desk.open('/console/calls?state=live');
    await desk.page.getByRole('button', { name: 'Sign out' }).click();
    await desk.page.getByLabel('Token').waitFor();
    expect((await desk.page.request.get(`${plane.url}/v1/me`)).status()).toBe(401);
    await desk.page.getByLabel('Token').fill('spt_wrong');
    await desk.press('Enter');
    await desk.page.getByRole('alert').waitFor();
    await desk.close();
  });
});
