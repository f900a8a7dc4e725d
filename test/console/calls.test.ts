import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { STAGES } from '../../src/domain/call/stages.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { expectCalm, openBrowser, type ConsoleBrowser, type ConsolePage } from './browser.ts';
import { startDesk, type DeskPlane } from './desk-plane.ts';

let plane: DeskPlane;
let browser: ConsoleBrowser;
let desk: ConsolePage;
beforeAll(async () => {
  plane = await startDesk();
  browser = await openBrowser(plane);
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

const row = (callId: string) => desk.page.locator('tr', { has: desk.page.locator(`a[href$="${callId}"]`) });

describe('the calls page', () => {
  it('follows calls while they happen, and stands still when it is paused', async () => {
    await desk.open('/console/calls');
    await desk.page.getByText('No such calls.').waitFor();
    const waiting = await plane.call('desk.wait', {});
    await row(waiting).waitFor();
    await desk.press('p');
    await desk.page.getByRole('button', { name: 'Paused' }).waitFor();
    const found = await plane.call('desk.lookup', { text: 'a' });
    await plane.untilSettled(found);
    expect(await row(found).count()).toBe(0);
    await desk.press('p');
    await row(found).getByText('ok', { exact: true }).waitFor();

    await row(waiting).getByRole('link').click();
    await desk.page.getByRole('button', { name: 'Cancel …' }).click();
    await desk.page.getByRole('button', { name: 'Cancel the call' }).click();
    expect((await plane.untilSettled(waiting)).kind).toBe('cancelled');
    await desk.page.locator('h1').getByText('cancelled').waitFor();
  });

  it('keeps its filter in the address, and lets in only what matches it', async () => {
    const good = await plane.call('desk.lookup', { text: 'b' });
    const bad = await plane.call('desk.fails', { text: 'no' }, { agent: 'billing' });
    await Promise.all([plane.untilSettled(good), plane.untilSettled(bad)]);
    await desk.open('/console/calls');
    await row(good).waitFor();
    await desk.page.getByLabel('Outcome').selectOption('failed');
    await row(bad).waitFor();
    await expect.poll(() => row(good).count()).toBe(0);
    expect(desk.page.url()).toContain('outcome=failed');
    const next = await plane.call('desk.fails', { text: 'again' });
    await row(next).waitFor();
    expect(await row(good).count()).toBe(0);
    await desk.page.reload();
    await row(bad).waitFor();
    await desk.page.getByLabel('Agent').fill('billing');
    await desk.press('Enter');
    await expect.poll(() => row(next).count()).toBe(0);
    await desk.page.goBack();
    await row(next).waitFor();
    expect(await desk.page.getByLabel('Agent').inputValue()).toBe('');
  });

  it('opens a call by keyboard: its stages, its verdict, its records and its output', async () => {
    const callId = await plane.ask('desk.mail', { to: 'x@example.com', subject: 's' });
    await desk.open('/console/approvals');
    await desk.ready();
    await desk.press('a');
    await plane.untilSettled(callId);
    await desk.press('g', 'c');
    await row(callId).getByText('ok', { exact: true }).waitFor();
    await desk.press('/');
    await desk.page.keyboard.type('desk.mail');
    await desk.press('Enter');
    await expect.poll(() => desk.page.locator('.call-link').count()).toBe(1);
    await desk.press('j', 'Enter');
    await desk.page.waitForURL(`**/console/calls/${callId}`);
    await expect.poll(() => desk.page.locator('.stage-name').allInnerTexts()).toEqual([...STAGES]);
    const text = await desk.page.locator('main').innerText();
    expect(text).toContain('mails-outside');
    expect(text).toContain('allow-once');
    expect(text).toContain('call.settled');
    expect(text).toContain('"sent": true');
    await desk.page.getByRole('link', { name: 'Send a mail outside the company' }).click();
    await desk.page.getByText('It is allowed.').waitFor();
  });

  it('shows a call that waits for a person at its gate, and as settled only after its end', async () => {
    const callId = await plane.ask('desk.mail', { to: 'parked@example.com', subject: 's' });
    await desk.open(`/console/calls/${callId}`);
    const current = desk.page.locator('.stage[aria-current="step"]');
    await current.waitFor();
    expect(await current.innerText()).toMatch(/^gate[\s\S]*asked a person, waiting since /);
    const stages = (): Promise<string[]> => desk.page.locator('.stage:not(.stage-unseen) .stage-name').allInnerTexts();
    expect(await stages()).toEqual(['accept', 'admit', 'gate']);
    const facts = desk.page.locator('section.part', {
      has: desk.page.getByRole('heading', { name: 'Call', exact: true }),
    });
    expect(await facts.innerText()).not.toContain('Settled');
    await plane.cancel(callId);
    await expect.poll(stages).toEqual(['accept', 'admit', 'gate', 'settle']);
    expect(await facts.innerText()).toContain('Settled');
    expect(await current.count()).toBe(0);
  });

  it('finds a call by the end of its id and by text, and shows each sentence of a denied call once', async () => {
    const callId = await plane.ask('desk.mail', { to: 'denied@example.com', subject: 's' });
    const { approvals } = (await plane.get(`/v1/calls/${callId}`)) as { approvals: { id: string; binding: string }[] };
    const { id, binding } = approvals[0]!;
    const comment = 'Not to this address.';
    await plane.send('POST', `/v1/approvals/${id}/decide`, { decision: 'deny', binding, comment });
    await plane.untilSettled(callId);
    await desk.open('/console/calls');
    await desk.page.getByLabel('Search id or text').fill(callId.slice(-8));
    await desk.press('Enter');
    await expect.poll(() => desk.page.locator('.call-link').count()).toBe(1);
    await row(callId).getByRole('link').click();
    const main = desk.page.locator('main');
    await main.getByText('denied@example.com').waitFor();
    await main.getByRole('note', { name: 'Why it ended like this' }).waitFor();
    const text = await main.innerText();
    expect(text.split(comment).length - 1).toBe(1);
    expect(text).toContain(callId);
    expect(text).not.toMatch(/\b0 ms/u);
    await desk.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await desk.page.getByRole('button', { name: 'Copy the call id' }).click();
    await desk.page.getByText('Copied the call id.').waitFor();
    expect(await desk.page.evaluate('navigator.clipboard.readText()')).toBe(callId);
    await main.getByRole('link', { name: 'All calls of this run' }).click();
    await desk.page.waitForURL('**/console/calls?run=*');
  });

  it('searches while a person types, keeps what is typed, and makes one entry of the history', async () => {
    const callId = await plane.call('desk.lookup', { text: 'typed' });
    await plane.untilSettled(callId);
    await desk.open('/console/overview');
    await desk.page.getByRole('link', { name: 'Calls', exact: true }).click();
    await row(callId).waitFor();
    const field = desk.page.getByLabel('Search id or text');
    await field.pressSequentially('nothing has this');
    await desk.page.getByText('No such calls.').waitFor();
    await expect.poll(() => desk.page.url()).toContain('text=nothing+has+this');
    expect(await field.inputValue()).toBe('nothing has this');
    await field.fill(callId.slice(-8));
    await row(callId).waitFor();
    await expect.poll(() => desk.page.locator('.call-link').count()).toBe(1);
    await expect.poll(() => desk.page.url()).toContain(callId.slice(-8));
    await desk.page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => field.inputValue()).toBe('');
    await desk.page.goBack();
    await expect.poll(() => field.inputValue()).toBe(callId.slice(-8));
    await desk.page.goBack();
    await desk.page.waitForURL('**/console/overview');
  });

  it('says so when there is no such call', async () => {
    await desk.open('/console/calls/0.nobody.knows');
    expect(await desk.page.getByRole('alert').innerText()).toContain('CALL_UNKNOWN');
  });
});
