import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DRESSED_COMMANDS } from '../support/dressed-commands.ts';
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

const mail = (to: string) => ({ to, subject: 'Offer 17', body: 'As agreed.' });
const ranFor = (to: string) => plane.ran().filter(({ args }) => (args as { to?: string }).to === to);
const item = (text: string) => desk.page.locator('.approval-item', { hasText: text });
const openCall = async (callId: string): Promise<void> => {
  await desk.page.locator(`.approval-list a[href]`).first().waitFor();
  await expect
    .poll(() => desk.page.locator('.question a[href*="/console/calls/"]').getAttribute('href'))
    .toContain(encodeURIComponent(callId));
};

describe('the approvals page', () => {
  it('shows a new question by itself, with what will run, why and for whom', async () => {
    await desk.open('/console/approvals');
    await desk.page.getByText('Nothing waits for you.').waitFor();
    const callId = await plane.ask('desk.mail', mail('live@example.com'), { agent: 'sales', subject: 'omar' });
    await desk.ready();
    const text = await desk.page.locator('.question').innerText();
    expect(text).toContain('"to": "live@example.com"');
    expect(text).toContain('Mails to people outside need a person.');
    expect(text).toContain('mails-outside');
    expect(text).toContain('sales');
    expect(text).toContain('omar');
    expect(text).toMatch(/5\d min \d+ s left/);
    expect(text).toMatch(/\d+ bytes, digest [0-9a-f]{64}/);
    await desk.press('d');
    await desk.page.keyboard.type('not to them');
    await desk.press('Enter');
    const outcome = await plane.untilSettled(callId);
    expect(outcome.kind).toBe('denied');
    expect(outcome.text).toContain('not to them');
    expect(ranFor('live@example.com')).toEqual([]);
  });

  it('allows with one key, but not before the question was looked at', async () => {
    const callId = await plane.ask('desk.mail', mail('one@example.com'));
    let decisions = 0;
    desk.page.on('request', (request) => (decisions += Number(request.url().endsWith('/decide'))));
    await desk.open('/console/approvals');
    await desk.page.locator('.question[data-ready="false"]').waitFor();
    await desk.press('a');
    await desk.ready();
    expect(decisions).toBe(0);
    await desk.press('a');
    expect((await plane.untilSettled(callId)).kind).toBe('ok');
    expect(ranFor('one@example.com')).toHaveLength(1);
    expect(decisions).toBe(1);
  });

  it('shows a command that was dressed up as a secret', async () => {
    const steps = DRESSED_COMMANDS.map(([, text]) => text);
    const callId = await plane.ask('desk.deploy', { steps });
    await desk.open('/console/approvals');
    await openCall(callId);
    const text = await desk.page.locator('.question').innerText();
    for (const step of steps) expect(text).toContain(JSON.stringify(step));
    await desk.ready();
    await desk.press('d', 'Enter');
    expect((await plane.untilSettled(callId)).kind).toBe('denied');
  });

  it('allows a question with masks only after it was revealed on this page', async () => {
    const body = 'PASSWORD=hunter2-hunter2 and more';
    const callId = await plane.ask('desk.mail', { ...mail('masked@example.com'), body });
    let decisions = 0;
    desk.page.on('request', (request) => (decisions += Number(request.url().endsWith('/decide'))));
    await desk.open('/console/approvals');
    await openCall(callId);
    await desk.ready();
    const question = desk.page.locator('.question');
    expect(await question.innerText()).toMatch(/PASSWORD=\[secret [0-9a-f]{8}, 15 characters\] and more/);
    expect(await question.innerText()).toContain('Reveal what is masked to allow it.');
    expect(await desk.page.getByRole('button', { name: 'Allow once' }).isDisabled()).toBe(true);
    await desk.press('a', 'w', 'e');
    expect(await desk.page.locator('dialog[open]').count()).toBe(0);
    expect(await desk.findings()).toEqual([]);
    await desk.press('r');
    await question.getByText(body).waitFor();
    expect(await desk.page.getByRole('button', { name: 'Reveal' }).count()).toBe(0);
    // After the reveal, the question has to be visible for the minimum time again before it can be decided.
    await desk.ready();
    await desk.press('a');
    expect((await plane.untilSettled(callId)).kind).toBe('ok');
    expect(ranFor('masked@example.com')).toMatchObject([{ args: { body } }]);
    expect(decisions).toBe(1);
  });

  it('allows no question with masks together with others', async () => {
    const [plain, masked] = [
      await plane.ask('desk.mail', mail('plain@example.com')),
      await plane.ask('desk.mail', { ...mail('batch@example.com'), body: '--token hunter2' }),
    ];
    await desk.open('/console/approvals');
    await desk.page.locator('.approval-item .row-check').nth(1).waitFor();
    for (const index of [0, 1]) await desk.page.locator('.approval-item .row-check').nth(index).check();
    await desk.press('a');
    const dialog = desk.page.locator('dialog[open]');
    await dialog.getByText('Part of it is masked. Open it alone, reveal it, then allow it.').waitFor();
    await dialog.getByRole('button', { name: 'Allow 1' }).click();
    await dialog.getByText('1 of 1 answered.').waitFor();
    expect((await plane.untilSettled(plain)).kind).toBe('ok');
    expect(ranFor('batch@example.com')).toEqual([]);
    await desk.press('Escape');
    await openCall(masked);
    await desk.ready();
    await desk.press('d', 'Enter');
    expect((await plane.untilSettled(masked)).kind).toBe('denied');
  });

  it('wants a second press for what is critical', async () => {
    const callId = await plane.ask('desk.refund', { payment: 'p1', amount: 9000, currency: 'EUR' });
    await desk.open('/console/approvals');
    await desk.ready();
    await desk.press('a');
    await desk.page.getByText('Critical: press again').waitFor();
    expect(plane.ran().filter(({ tool }) => tool === 'refund')).toEqual([]);
    await desk.press('a');
    expect((await plane.untilSettled(callId)).kind).toBe('ok');
    expect(plane.ran().filter(({ tool }) => tool === 'refund')).toHaveLength(1);
  });

  it('lets long arguments be allowed only after all of them were opened, and shows their end before', async () => {
    const steps = Array.from({ length: 80 }, (_, index) => (index === 79 ? 'rm -rf everything' : `step ${index}`));
    const callId = await plane.ask('desk.deploy', { steps });
    await desk.open('/console/approvals');
    await desk.ready();
    const text = await desk.page.locator('.question').innerText();
    expect(text).toContain('rm -rf everything');
    expect(text).not.toContain('"step 40"');
    const allow = desk.page.getByRole('button', { name: 'Allow once' });
    expect(await allow.isDisabled()).toBe(true);
    await desk.press('a', 'o');
    await desk.page.getByText('"step 40"').waitFor();
    await desk.press('a');
    expect((await plane.untilSettled(callId)).kind).toBe('ok');
  });

  it('runs what a person wrote instead, after showing the difference', async () => {
    const callId = await plane.ask('desk.mail', mail('typo@example.com'));
    await desk.open('/console/approvals');
    await desk.ready();
    await desk.press('e');
    const editor = desk.page.getByLabel('Arguments as JSON');
    const send = desk.page.getByRole('button', { name: 'Allow with these arguments' });
    await editor.fill('{ "to": ');
    expect(await send.isDisabled()).toBe(true);
    expect(await editor.getAttribute('aria-invalid')).toBe('true');
    await editor.fill(JSON.stringify(mail('right@example.com')));
    expect(await desk.page.locator('.diff-removed').innerText()).toContain('typo@example.com');
    expect(await desk.page.locator('.diff-added').innerText()).toContain('right@example.com');
    await desk.press('Control+Enter');
    expect((await plane.untilSettled(callId)).kind).toBe('ok');
    expect(ranFor('typo@example.com')).toEqual([]);
    expect(ranFor('right@example.com')).toHaveLength(1);
  });

  it('remembers a yes as narrowly as it was given', async () => {
    const who = { agent: 'monthly', subject: 'ida' };
    const callId = await plane.ask('desk.mail', mail('always@example.com'), who);
    await desk.open('/console/approvals');
    await desk.ready();
    await desk.press('w');
    await desk.page.getByLabel(/^For/).selectOption('3600000');
    await desk.page.getByLabel('At most so many times').fill('3');
    const summary = await desk.page.locator('.summary').innerText();
    expect(summary).toBe(
      'Agent monthly of ida may call desk.mail with exactly these arguments for 1 h, 3 times, and nobody is asked.',
    );
    await desk.page.getByRole('button', { name: 'Allow always' }).click();
    expect((await plane.untilSettled(callId)).kind).toBe('ok');
    const again = await plane.call('desk.mail', mail('always@example.com'), who);
    expect((await plane.untilSettled(again)).kind).toBe('ok');
    const other = await plane.ask('desk.mail', mail('someone-else@example.com'), who);
    const { items } = (await plane.get('/v1/grants')) as { items: object[] };
    expect(items).toMatchObject([{ agent: 'monthly', subject: 'ida', matches: { kind: 'exact' }, usesLeft: 2 }]);
    await plane.cancel(other);
  });

  it('searches while a person types, and keeps the search in the address', async () => {
    const calls = [
      await plane.ask('desk.mail', mail('s1@example.com')),
      await plane.ask('desk.mail', mail('s2@example.com')),
    ];
    await desk.open('/console/approvals');
    await item('s2@example.com').waitFor();
    const field = desk.page.getByLabel('Search id or text');
    await field.pressSequentially('s2@example');
    await expect.poll(() => item('desk.mail').count()).toBe(1);
    await expect.poll(() => desk.page.url()).toContain('text=s2%40example');
    await item('s2@example.com').getByRole('link').click();
    await desk.page.waitForURL(/\/console\/approvals\/.+text=s2%40example/);
    await desk.page.reload();
    await openCall(calls[1]!);
    expect(await item('desk.mail').count()).toBe(1);
    expect(await field.inputValue()).toBe('s2@example');
    for (const callId of calls) await plane.cancel(callId);
  });

  it('says that a search finds nothing, and leaves no empty frame', async () => {
    const callId = await plane.ask('desk.mail', mail('none@example.com'));
    await desk.open('/console/approvals');
    await item('none@example.com').waitFor();
    await desk.page.getByLabel('Search id or text').fill('nothing has this');
    await desk.page.getByText('No pending question matches.').waitFor();
    expect(await desk.page.locator('.approval-list').count()).toBe(0);
    await plane.cancel(callId);
  });

  it('shows a key only on the button that it presses', async () => {
    const calls = [
      await plane.ask('desk.mail', mail('k1@example.com')),
      await plane.ask('desk.mail', mail('k2@example.com')),
    ];
    await desk.open('/console/approvals');
    await item('k2@example.com').waitFor();
    await desk.ready();
    const keys = async (where: string): Promise<string[]> =>
      (await desk.page.locator(`${where} kbd`).allInnerTexts()).sort();
    expect(await keys('.question')).toEqual(['a', 'd', 'e', 'w']);
    await desk.press('x');
    await desk.page.getByText('1 selected').waitFor();
    expect(await keys('.batch-bar')).toEqual(['a', 'd']);
    expect(await keys('.question')).toEqual([]);
    expect(await desk.page.locator('.question [aria-keyshortcuts]').count()).toBe(0);
    await desk.press('Escape');
    await expect.poll(() => keys('.question')).toEqual(['a', 'd', 'e', 'w']);
    for (const callId of calls) await plane.cancel(callId);
  });

  it('decides several with one dialog, each by its own request, and lists what became of each', async () => {
    const calls: string[] = [];
    for (const name of ['b1', 'b2', 'b3']) calls.push(await plane.ask('desk.mail', mail(`${name}@example.com`)));
    const bodies: { binding: string }[] = [];
    desk.page.on('request', (request) => {
      if (request.url().endsWith('/decide')) bodies.push(request.postDataJSON() as { binding: string });
    });
    await desk.open('/console/approvals');
    await item('desk.mail').nth(2).waitFor();
    await desk.press('x', 'j', 'x', 'j', 'x');
    await desk.page.getByText('3 selected').waitFor();
    // One of the selected questions is closed before this user decides.
    await plane.cancel(calls[1]!);
    await desk.press('a');
    const send = desk.page.getByRole('dialog').locator('.dialog-actions .button-primary');
    await send.click();
    await desk.page.locator('.result-good, .result-bad').nth(2).waitFor();
    expect(await desk.page.locator('.result-good').allInnerTexts()).toEqual(['Allowed.', 'Allowed.']);
    expect(await desk.page.locator('.result-bad').count()).toBe(1);
    expect(new Set(bodies.map(({ binding }) => binding)).size).toBe(bodies.length);
    await desk.press('Escape');
    expect((await plane.untilSettled(calls[0]!)).kind).toBe('ok');
    expect((await plane.untilSettled(calls[2]!)).kind).toBe('ok');
    expect(ranFor('b2@example.com')).toEqual([]);
  });

  it('does not put another question in the place of one that another approver decided', async () => {
    const first = await plane.ask('desk.mail', mail('first@example.com'));
    const second = await plane.ask('desk.mail', mail('second@example.com'));
    await desk.open('/console/approvals');
    await openCall(first);
    await plane.cancel(first);
    await desk.page.getByText('It is cancelled.').waitFor();
    await openCall(first);
    await desk.press('a', 'a');
    await desk.press('j');
    await openCall(second);
    await plane.cancel(second);
    await desk.page.getByText('It is cancelled.').waitFor();
    expect(ranFor('second@example.com')).toEqual([]);
  });

  it('says that time is up, and then decides nothing any more', async () => {
    await desk.open('/console/approvals');
    const callId = await plane.ask('desk.ring', { at: 'noon' });
    await desk.page.locator('.question', { hasText: 'Ring the bell' }).waitFor();
    await desk.page
      .locator('.decision-bar')
      .getByText(/It is expired\.|Time is up\./)
      .waitFor();
    expect(await desk.page.getByRole('button', { name: 'Allow once' }).isDisabled()).toBe(true);
    await desk.press('a', 'd');
    expect(await desk.page.getByRole('dialog').count()).toBe(0);
    expect((await plane.untilSettled(callId)).text).toContain('APPROVAL_EXPIRED');
    expect(plane.ran().filter(({ tool }) => tool === 'ring')).toEqual([]);
  });

  it('keeps what was decided, with who decided and what they said', async () => {
    await desk.open('/console/approvals?tab=history');
    await desk.page
      .getByRole('row', { name: /denied desk\.mail .*sales omar/ })
      .getByRole('button')
      .click();
    const dialog = desk.page.getByRole('dialog');
    // The dialog opens at once and loads what it shows.
    await dialog.getByText('not to them').waitFor();
    expect(await dialog.innerText()).toContain('"to": "live@example.com"');
  });
});
