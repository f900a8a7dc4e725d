import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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

const figure = (title: string) => desk.page.getByRole('figure', { name: title });
const endOf = async (tool: string, text: string): Promise<string> => (await api.call(tool, { text })).kind;

describe('the fleet page', () => {
  it('shows the worker that serves, and counts a call while one looks', async () => {
    await desk.open('/console/fleet');
    const worker = desk.page.getByRole('region', { name: 'Workers of pool default' }).getByRole('row').nth(1);
    await worker.waitFor();
    expect(await worker.innerText()).toMatch(/serving[\s\S]*0 of \d+/);
    await figure('Throughput by outcome').getByText('No call has ended in this time.').waitFor();
    expect(await endOf('desk.lookup', 'x')).toBe('ok');
    expect(await endOf('desk.fails', 'no')).toBe('failed');
    await figure('Throughput by outcome').getByText('2 calls ended: 1 ok, 1 failed.').waitFor();
    await figure('How long tools ran').getByText('Half of the calls ended within').waitFor();
  });

  it('has every chart as a table as well', async () => {
    await desk.open('/console/fleet');
    await figure('Throughput by outcome').getByText('Throughput by outcome as a table').click();
    const table = figure('Throughput by outcome').getByRole('table');
    const rows = await table.getByRole('row').allInnerTexts();
    expect(rows[0]).toMatch(/Time\s+ok\s+failed\s+refused/);
    const counted = rows.slice(1).map((row) => row.split(/\s+/).map(Number));
    expect(counted.reduce((sum, [, ok]) => sum + ok!, 0)).toBe(1);
    expect(counted.reduce((sum, [, , failed]) => sum + failed!, 0)).toBe(1);
  });

  it('draws under the content security policy, from a file that other pages do not load', async () => {
    const scripts: string[] = [];
    desk.page.on('request', (request) => {
      if (request.url().endsWith('.js')) scripts.push(request.url());
    });
    await desk.open('/console/grants');
    await desk.page.getByRole('heading', { name: 'Grants' }).waitFor();
    expect(scripts.filter((url) => url.includes('draw-chart'))).toEqual([]);
    await desk.page.getByRole('link', { name: 'Fleet' }).click();
    const canvas = figure('Throughput by outcome').locator('canvas');
    await canvas.waitFor();
    expect(scripts.filter((url) => url.includes('draw-chart'))).toHaveLength(1);
    const colours = await desk.page.evaluate(`(() => {
      const canvas = document.querySelector('.chart canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    })()`);
    expect(colours).toBeGreaterThan(3);
  });

  it('draws no axis and no legend while no pool has a queue', async () => {
    await desk.page.route('**/v1/queues', (route) => route.fulfill({ json: { items: [] } }));
    await desk.open('/console/fleet');
    const waiting = figure('Calls waiting, by pool');
    await waiting.getByText('No pool has a queue yet.').waitFor();
    await figure('Throughput by outcome').locator('canvas').waitFor();
    expect(await waiting.locator('canvas, .chart-legend').count()).toBe(0);
  });

  it('asks for the time that was chosen', async () => {
    await desk.open('/console/fleet');
    await figure('Throughput by outcome').waitFor();
    const asked = desk.page.waitForRequest(/\/v1\/statistics\?.*windowMs=900000/);
    await desk.page.getByLabel('15 min').check();
    expect(new URL((await asked).url()).searchParams.get('buckets')).toBe('60');
  });

  it('pauses a tool after asking once more, and resumes it', async () => {
    await desk.open('/console/fleet');
    await desk.page.getByText('Nothing is paused.').waitFor();
    await desk.page.getByRole('combobox', { name: 'Pause' }).selectOption('tool');
    await desk.page.getByLabel('Tool, or module.*').fill('desk.lookup');
    await desk.page.getByRole('button', { name: 'Pause …' }).click();
    expect(await endOf('desk.lookup', 'not yet')).toBe('ok');
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await desk.page.locator('.paused').getByText('Tool desk.lookup').waitFor();
    expect(await endOf('desk.lookup', 'paused')).toBe('denied');
    await desk.page.getByRole('button', { name: 'Resume Tool desk.lookup' }).click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await desk.page.getByText('Nothing is paused.').waitFor();
    expect(await endOf('desk.lookup', 'again')).toBe('ok');
  });

  it('lists a run that looped in one row, with its calls', async () => {
    const ends: { callId: string; kind: string }[] = [];
    while (ends.at(-1)?.kind !== 'blocked' && ends.length < 50)
      ends.push(await api.call('desk.fails', { text: 'loop' }));
    expect(ends.at(-1)?.kind).toBe('blocked');
    await desk.open('/console/fleet');
    const row = desk.page
      .getByRole('region', { name: 'Runs that looped' })
      .getByRole('row', { name: /blocked/ })
      .first();
    await row.waitFor();
    expect(await row.innerText()).toContain('desk.fails');
    await row.locator('summary').click();
    const call = row.locator('details').getByRole('link').first();
    const href = await call.getAttribute('href');
    expect(href).toBe(`/console/calls/${encodeURIComponent(ends.at(-1)!.callId)}`);
    await call.click();
    await desk.page.waitForURL(`**${href}`);
    await desk.page.locator('.timeline').waitFor();
  });

  it.each(LOOKS)('looks good: %s', async (...look) => {
    await expectGoodLook(browser, look, {
      name: 'fleet',
      path: '/console/fleet',
      prepare: async ({ page }) => {
        await page.locator('.chart canvas').nth(1).waitFor();
        await page.getByRole('region', { name: 'Workers of pool default' }).waitFor();
      },
    });
  });
});
