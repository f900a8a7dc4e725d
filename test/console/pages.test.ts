import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import { expectCalm, openBrowser, type ConsoleBrowser } from './browser.ts';
import { startDesk, type DeskPlane } from './desk-plane.ts';

let plane: DeskPlane;
let browser: ConsoleBrowser;
let settled: string;
beforeAll(async () => {
  plane = await startDesk();
  browser = await openBrowser(plane);
  await plane.ask('desk.mail', {
    to: 'customer@example.com',
    subject: 'Your order 4711',
    body: 'We send the missing part today.\nSorry for the trouble.',
  });
  await plane.ask('desk.refund', { payment: 'pay_4711', amount: 1250, currency: 'EUR' }, { agent: 'billing' });
  await plane.ask('desk.deploy', { steps: ['build', 'test', 'publish'] }, { agent: 'release', subject: 'omar' });
  for (const text of ['Ada Lovelace', 'Alan Turing', 'Grace Hopper']) await plane.call('desk.lookup', { text });
  await plane.call('desk.fails', { text: 'The customer database does not answer.' }, { agent: 'billing' });
  await plane.call('desk.attach', { name: 'invoice.html' });
  settled = await plane.ask('desk.mail', { to: 'partner@example.com', subject: 'Contract', body: 'Signed.' });
  await plane.allow(settled);
  await plane.untilSettled(settled);
});
afterAll(async () => {
  await browser.close();
  await plane.stop();
  failOnLeaks();
});

const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const;

/** The pages, each with a selector of an element that is there once the page has loaded its data. */
const PAGES: readonly (readonly [name: string, path: () => string, shown: string])[] = [
  ['overview', () => '/console/overview', '.overview-list .badge-warning'],
  ['approvals', () => '/console/approvals', '.approval-item'],
  ['decided', () => '/console/approvals?tab=history', '.state, .table'],
  ['calls', () => '/console/calls', '.call-link'],
  ['call', () => `/console/calls/${settled}`, '.timeline'],
];

describe.each(Object.entries(LOOKS))('the console, %s', (look, options) => {
  it.each(PAGES)(
    '%s has no serious accessibility finding, fits the screen and breaks no policy',
    async (name, path, shown) => {
      const desk = await browser.signIn(options);
      await desk.open(path());
      await desk.page.locator(shown).first().waitFor();
      await desk.page.getByText('Live', { exact: true }).waitFor();
      expect(await desk.findings()).toEqual([]);
      expect(await desk.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      await desk.picture(`${name}-${look}`);
      expectCalm(desk);
      await desk.close();
    },
  );

  it('dialogs have no serious accessibility finding', async () => {
    const desk = await browser.signIn(options);
    await desk.open('/console/approvals');
    await desk.page.locator('.approval-item a').first().click();
    await desk.ready();
    for (const name of [/^Always/, /^Deny/, /^Edit/]) {
      await desk.page.locator('.decision-bar').getByRole('button', { name }).click();
      await desk.page.getByRole('dialog').waitFor();
      expect(await desk.findings()).toEqual([]);
      await desk.press('Escape');
      await desk.page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await desk.page.locator('.decision-bar').getByRole('button', { name: /^Edit/ }).click();
    const editor = desk.page.getByLabel('Arguments as JSON');
    await editor.fill((await editor.inputValue()).replace('today', 'tomorrow'));
    expect(await desk.findings()).toEqual([]);
    await desk.picture(`edit-${look}`);
    await desk.close();
  });
});

describe('the bottom bar of a small phone', () => {
  it('keeps its labels apart, and on the screen', async () => {
    const desk = await browser.signIn({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    await desk.open('/console/overview');
    await desk.page.getByText('Live', { exact: true }).waitFor();
    const labels = (await desk.page.evaluate(`[...document.querySelectorAll('.nav-title')].map((label) => {
      const range = document.createRange();
      range.selectNodeContents(label);
      const { left, right } = range.getBoundingClientRect();
      return { left, right };
    })`)) as { left: number; right: number }[];
    expect(labels).toHaveLength(8);
    const gaps = labels.slice(1).map(({ left }, index) => left - labels[index]!.right);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5);
    expect(labels[0]!.left).toBeGreaterThanOrEqual(2);
    expect(labels.at(-1)!.right).toBeLessThanOrEqual(358);
    expectCalm(desk);
    await desk.close();
  });
});

describe('the first page', () => {
  it('shows what waits with the oldest first, what failed, who serves, and follows what happens', async () => {
    const desk = await browser.signIn();
    await desk.open('/console/');
    const panel = (title: string) => desk.page.getByRole('region', { name: title });
    const waiting = panel('Waiting for a person').locator('li');
    await expect.poll(() => waiting.count()).toBe(3);
    expect(await waiting.first().innerText()).toContain('to: customer@example.com');
    await panel('Failed in the last day').getByText('desk.fails').waitFor();
    await panel('Serving').getByText('1 serving').waitFor();
    const denied = await plane.ask('desk.mail', { to: 'late@example.com', subject: 's' });
    await waiting.getByText('to: late@example.com').waitFor();
    const [question] = ((await plane.get(`/v1/calls/${denied}`)) as { approvals: { id: string; binding: string }[] })
      .approvals;
    await plane.send('POST', `/v1/approvals/${question!.id}/decide`, { decision: 'deny', binding: question!.binding });
    await panel('Denied or blocked in the last day').getByRole('link', { name: 'desk.mail' }).waitFor();
    await expect.poll(() => waiting.count()).toBe(3);
    await panel('Waiting for a person').getByRole('link', { name: 'All questions' }).click();
    await desk.page.waitForURL('**/console/approvals');
    expectCalm(desk);
    await desk.close();
  });

  it('loads less than 60 KB of script', async () => {
    const desk = await browser.signIn();
    const sizes: Promise<number>[] = [];
    desk.page.on('requestfinished', (request) => {
      if (request.resourceType() === 'script') {
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
      }
    });
    await desk.open('/console/');
    await desk.page.locator('.panel').first().waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(sizes.length).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(60_000);
    await desk.close();
  });

  it('is served under the strict policy', async () => {
    const answer = await fetch(`${plane.url}/console/`);
    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      expect(policy.split('; ')).toContain(rule);
    }
    expect(policy).not.toContain('unsafe');
  });

  it('is reached with a login link, once, and no code stays in the address or the history', async () => {
    const { stdout } = await plane.cli('gateway', 'login-link');
    const link = /http:\S+\/login#\S+/.exec(stdout)?.[0] ?? '';
    const desk = await browser.stranger();
    await desk.page.goto(link);
    await desk.page.locator('.panel').first().waitFor();
    expect(desk.page.url()).toBe(`${plane.url}/console/overview`);
    await desk.page.goBack();
    expect(desk.page.url()).not.toContain('#');
    const other = await browser.stranger();
    await other.page.goto(link);
    await other.page.getByRole('alert').waitFor();
    expect(await other.page.context().cookies()).toEqual([]);
    await desk.close();
    await other.close();
  });

  it('asks strangers for a token, and takes none that is wrong', async () => {
    const desk = await browser.stranger();
    await desk.open('/console/calls');
    await desk.page.getByLabel('Token').fill('spt_aaaaaaaaaaaaaaaa_wrong');
    await desk.press('Enter');
    await desk.page.getByRole('alert').waitFor();
    expect(await desk.findings()).toEqual([]);
    await desk.picture('login-light');
    await desk.close();
  });
});
