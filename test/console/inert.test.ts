import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import { expectCalm, openBrowser, type ConsoleBrowser, type ConsolePage } from './browser.ts';
import { startDesk, type DeskPlane } from './desk-plane.ts';
import { PAYLOADS, SHORT_PAYLOAD } from './payloads.ts';

let plane: DeskPlane;
let browser: ConsoleBrowser;
let desk: ConsolePage;
beforeAll(async () => {
  plane = await startDesk();
  browser = await openBrowser(plane);
  desk = await browser.signIn();
});
afterAll(async () => {
  await desk.close();
  await browser.close();
  await plane.stop();
  failOnLeaks();
});
const MADE_OF_TEXT =
  'img, iframe, object, embed, video, audio, marquee, base, style, template, math, x, xmp, plaintext, frameset, ' +
  'meta[http-equiv], body script, link[href*="attacker"], form[action], a[href^="javascript" i], ' +
  '[onerror], [onload], [onfocus], [onclick], [ontoggle], [onmouseover], [onstart], [srcdoc]';

/** No payload became an element, ran, violated the content security policy, or caused a request to another server. */
async function expectNoMarkup(): Promise<void> {
  expectCalm(desk);
  const made = `[...document.querySelectorAll(${JSON.stringify(MADE_OF_TEXT)})].map((element) => element.outerHTML)`;
  expect(await desk.page.evaluate(made)).toEqual([]);
}
afterEach(expectNoMarkup);

/** This payload has no slash, because the gateway refuses paths with an encoded one. */
const PATH_PAYLOAD = `"'><img src=x onerror=alert(0)>`;
const who = { subject: SHORT_PAYLOAD };
const text = PAYLOADS.join('\n');

async function expectShown(...wanted: string[]): Promise<void> {
  for (const one of wanted) await expect.poll(() => desk.page.locator('main').innerText()).toContain(one);
}

describe('text of others in the console', () => {
  it('is inert in a question: arguments, subject and comment', async () => {
    const callId = await plane.ask('desk.mail', { to: SHORT_PAYLOAD, subject: 'x', body: text }, who);
    await desk.open('/console/approvals');
    await desk.ready();
    await expectShown(SHORT_PAYLOAD);
    await desk.press('o');
    // The opened arguments are shown as JSON, as the tool gets them, with invisible characters escaped.
    await expectShown('<svg onload=alert(3)>', '</code></pre><img src=x onerror=alert(32)>', '\\u202egnp.exe');
    await desk.press('e');
    await desk.page
      .getByLabel('Arguments as JSON')
      .fill(JSON.stringify({ to: SHORT_PAYLOAD, subject: text, body: '' }));
    await desk.page.locator('.diff-added', { hasText: 'onload=alert(3)' }).waitFor();
    await desk.press('Escape', 'd');
    await desk.page.getByLabel(/^Why/).fill(SHORT_PAYLOAD);
    await desk.press('Enter');
    expect((await plane.untilSettled(callId)).kind).toBe('denied');
    await desk.open(`/console/calls/${callId}`);
    await expectShown(SHORT_PAYLOAD, 'APPROVAL_DENIED');
    await desk.open('/console/approvals?tab=history');
    await desk.page.getByRole('button', { name: 'desk.mail' }).click();
    await expect.poll(() => desk.page.getByRole('dialog').innerText()).toContain(SHORT_PAYLOAD);
  });

  it.each([
    ['a result', 'desk.lookup', { text }],
    ['an error', 'desk.fails', { text }],
  ])('is inert in %s', async (_, tool, args) => {
    const callId = await plane.call(tool, args, who);
    await plane.untilSettled(callId);
    await desk.open('/console/calls');
    await expectShown(SHORT_PAYLOAD);
    await desk.open(`/console/calls/${callId}`);
    await desk.page.locator('.timeline').waitFor();
    for (const more of await desk.page.getByRole('button', { name: /^Show .* more$/ }).all()) await more.click();
    await expectShown('<svg onload=alert(3)>', '\\u{202e}gnp.exe', 'visible\\u{200b}\\u{2060}\\u{feff}hidden');
  });

  it('is inert in the name of a file, which is saved and never opened', async () => {
    const callId = await plane.call('desk.attach', { name: `${SHORT_PAYLOAD}.html` }, who);
    await plane.untilSettled(callId);
    await desk.open(`/console/calls/${callId}`);
    const link = desk.page.locator('a[download]').first();
    await link.waitFor();
    const answer = await desk.page.request.get(new URL((await link.getAttribute('href'))!, plane.url).href);
    expect(answer.headers()).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment/) as string,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox') as string,
    });
    const saved = desk.page.waitForEvent('download');
    await link.click();
    expect((await saved).suggestedFilename()).not.toMatch(/[<>/]/);
    expect(desk.page.url()).toContain('/console/calls/');
  });

  it('is inert in the audit, where every caller is recorded', async () => {
    await desk.open('/console/audit');
    await expectShown(SHORT_PAYLOAD);
    for (const path of ['/console/access', '/console/fleet', '/console/grants', '/console/tokens']) {
      await desk.open(`${path}?subject=${encodeURIComponent(SHORT_PAYLOAD)}`);
      await desk.page.locator('h1').waitFor();
      await desk.page.getByText('Live', { exact: true }).waitFor();
      await expectNoMarkup();
    }
  });

  it('cannot come from the address either', async () => {
    await desk.open(`/console/calls?tool=${encodeURIComponent(SHORT_PAYLOAD)}&gatewayUrl=//attacker.example/`);
    expect(await desk.page.getByRole('searchbox', { name: 'Tool' }).inputValue()).toBe(SHORT_PAYLOAD);
    await desk.open(`/console/calls/${encodeURIComponent(PATH_PAYLOAD)}`);
    await desk.page.getByRole('alert').waitFor();
    await desk.open(`/console/${encodeURIComponent(PATH_PAYLOAD)}`);
    await expectShown('There is no such page.');
  });
});
