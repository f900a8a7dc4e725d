import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MatrixPage } from '../../src/gateway/api/explain-schema.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { expectCalm, openBrowser, type ConsoleBrowser, type ConsolePage } from './browser.ts';
import { openDeskApi } from './desk-api.ts';
import { startDesk, type DeskPlane } from './desk-plane.ts';
import { expectGoodLook, LOOKS } from './looks.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202E';

let plane: DeskPlane;
let browser: ConsoleBrowser;
let desk: ConsolePage;
beforeAll(async () => {
  plane = await startDesk();
  browser = await openBrowser(plane);
  const api = await openDeskApi(plane, browser);
  await api.send('PUT', '/v1/agents/support', { selection: [{ module: 'desk', tools: 'all' }] });
  await api.send('PUT', '/v1/agents/reader', {
    selection: [{ module: 'desk', tools: ['lookup'] }],
    description: `Looks up. ${HOSTILE}`,
  });
  await api.send('POST', '/v1/pause', { what: 'tool', name: 'desk.wait' });
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

/** Row and column of the cell that has the focus, by the names of its headers. */
async function focused(): Promise<string> {
  return desk.page.evaluate(`(() => {
    const cell = document.activeElement;
    const tool = cell.closest('[role=row]').querySelector('[role=rowheader]').textContent;
    const column = '[role=columnheader][aria-colindex="' + cell.getAttribute('aria-colindex') + '"]';
    return document.querySelector(column).textContent + ' ' + tool + ': ' + cell.textContent;
  })()`);
}

async function tableOf(): Promise<Record<string, string[]>> {
  const rows = await desk.page.locator('.matrix-row').allInnerTexts();
  return Object.fromEntries(
    rows.map((text) => {
      const [tool, ...verdicts] = text.split(/\s+/).filter((word) => /^[a-z]/.test(word));
      return [tool!, verdicts];
    }),
  );
}

describe('the access matrix', () => {
  it('shows for each agent and tool what would happen', async () => {
    await desk.open('/console/access');
    await desk.page.getByRole('grid').waitFor();
    expect(await desk.page.getByRole('columnheader').allInnerTexts()).toEqual(['Tool', 'reader', 'support']);
    expect(await tableOf()).toMatchObject({
      'desk.lookup': ['allow', 'allow'],
      'desk.mail': ['deny', 'ask'],
      'desk.wait': ['deny', 'deny'],
    });
  });

  it('is read page by page, as far as its rows are shown', async () => {
    const asked: (string | null)[] = [];
    await desk.page.route(/\/v1\/matrix\?/, async (route) => {
      const url = new URL(route.request().url());
      asked.push(url.searchParams.get('cursor'));
      url.searchParams.set('limit', '2');
      await route.continue({ url: url.href });
    });
    await desk.open('/console/access');
    await desk.page.getByRole('grid').waitFor();
    await desk.page.getByText(/^\d+ of \d+ tools, 2 of 2 agents$/).waitFor();
    const read = async (): Promise<Record<string, string[]>> => {
      const table = await tableOf();
      return Object.values(table).every((verdicts) => verdicts.length === 2) ? table : {};
    };
    const table = await eventually(
      async () => {
        const found = await read();
        return 'desk.wait' in found ? found : undefined;
      },
      { what: 'all rows' },
    );
    expect(table).toMatchObject({ 'desk.lookup': ['allow', 'allow'], 'desk.mail': ['deny', 'ask'] });
    expect(asked[0]).toBeNull();
    expect(asked.slice(1).every((cursor) => cursor !== null)).toBe(true);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.length).toBe(Math.ceil(Object.keys(table).length / 2));
  });

  it('begins again when the agents of a later page are others: no verdict stands under the wrong one', async () => {
    let begun = 0;
    await desk.page.route(/\/v1\/matrix\?/, async (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '2');
      const answer = await route.fetch({ url: url.href });
      // The first page is answered as if `reader`, the first agent by name, had no session yet; later answers are complete.
      const isFirstRead = !url.searchParams.has('cursor') && ++begun === 1;
      const page = (await answer.json()) as MatrixPage;
      const items = page.items.map(({ tool, cells }) => ({ tool, cells: cells.slice(1) }));
      await route.fulfill({
        response: answer,
        json: isFirstRead ? { ...page, agents: page.agents.slice(1), items } : page,
      });
    });
    await desk.open('/console/access');
    await desk.page.getByText(/^\d+ of \d+ tools, 2 of 2 agents$/).waitFor();
    const table = await eventually(
      async () => {
        const found = await tableOf();
        return found['desk.wait']?.length === 2 ? found : undefined;
      },
      { what: 'all rows' },
    );
    expect(table).toMatchObject({ 'desk.lookup': ['allow', 'allow'], 'desk.mail': ['deny', 'ask'] });
    expect(begun).toBe(2);
  });

  it('says that a page could not be read, and reads it when asked to', async () => {
    let isBroken = true;
    await desk.page.route(/\/v1\/matrix\?/, async (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '2');
      if (isBroken && url.searchParams.has('cursor')) await route.abort();
      else await route.continue({ url: url.href });
    });
    await desk.open('/console/access');
    const retry = desk.page.getByRole('button', { name: /again/i });
    await retry.waitFor();
    expect(await desk.page.getByRole('gridcell').allInnerTexts()).toContain('…');
    isBroken = false;
    await retry.click();
    await eventually(async () => ((await tableOf())['desk.wait']?.length === 2 ? true : undefined), {
      what: 'all rows',
    });
    expect(await retry.count()).toBe(0);
  });

  it('is walked with arrow keys, and says why about the cell one is in', async () => {
    await desk.open('/console/access');
    await desk.page.getByRole('gridcell').first().focus();
    await desk.press('Control+Home', 'End');
    const reason = desk.page.getByRole('region', { name: 'Reason' });
    for (let row = 0; row < 7 && !(await focused()).includes('desk.mail'); row += 1) await desk.press('ArrowDown');
    expect(await focused()).toMatch(/support desk\.mail: .*ask/);
    await reason.getByText('support may call desk.mail for local, once a person has allowed it.').waitFor();
    expect(await reason.locator('.check-decides').innerText()).toContain('Mails to people outside need a person.');
    await desk.press('ArrowLeft');
    expect(await focused()).toMatch(/reader desk\.mail: .*deny/);
    await reason.getByText('reader may not call desk.mail for local.').waitFor();
    expect(await reason.locator('.check-decides').innerText()).toContain('did not select it');
    expect(await reason.locator('.changes').innerText()).toContain('sallyport agents set reader');
  });

  it('is narrowed by text, and asks for another subject', async () => {
    await desk.open('/console/access');
    await desk.page.getByLabel('Tools with').fill('MAIL');
    await desk.page.getByText(/^1 of \d+ tools, 2 of 2 agents$/).waitFor();
    await desk.page.getByLabel('Agents with').fill('nobody');
    await desk.page.getByText('Nothing is called like that.').waitFor();
    await desk.page.getByLabel('Agents with').fill('');
    const asked = desk.page.waitForRequest(/\/v1\/matrix\?/);
    await desk.page.getByLabel('Subject').fill('ada');
    await desk.press('Enter', 'Tab');
    expect(new URL((await asked).url()).searchParams.get('subject')).toBe('ada');
  });

  it('tries a call with its arguments and runs nothing', async () => {
    await desk.open('/console/access');
    await desk.page.getByRole('gridcell', { name: 'ask' }).first().click();
    await desk.page.getByRole('button', { name: 'Try it with arguments' }).click();
    const answer = desk.page.getByRole('region', { name: 'Answer' });
    await answer.getByText('once a person has allowed it').waitFor();
    await desk.page.getByLabel('Arguments, as JSON').fill('{"to":');
    expect(await desk.page.getByRole('button', { name: 'Check' }).isDisabled()).toBe(true);
    await desk.page.getByLabel('Tool', { exact: true }).fill('desk.mail');
    await desk.page.getByLabel('Arguments, as JSON').fill('{"to": 7}');
    await desk.page.getByRole('button', { name: 'Check' }).click();
    await answer.getByText('support may not call desk.mail for local.').waitFor();
    expect(await answer.locator('.check-decides').innerText()).toMatch(/no\s+arguments/);
    await desk.page.getByLabel('Tool', { exact: true }).fill('desk.mial');
    await desk.page.getByRole('button', { name: 'Check' }).click();
    await answer.getByText('Did you mean desk.mail').waitFor();
    expect(plane.ran()).toEqual([]);
    const records = JSON.parse((await plane.cli('audit', 'query', '--json')).stdout) as { readonly callId?: string }[];
    expect(records.filter(({ callId }) => callId !== undefined)).toEqual([]);
  });

  it('shows declared agents, with text of others inert', async () => {
    await desk.open('/console/access?view=agents');
    const row = desk.page.getByRole('row', { name: /^reader/ });
    await row.waitFor();
    expect(await row.innerText()).toContain('<img src=x onerror=alert(1)>\\u{202e}');
    expect(await desk.page.locator('main img').count()).toBe(0);
  });

  it.each(LOOKS)('looks good: %s', async (...look) => {
    await expectGoodLook(browser, look, {
      name: 'access',
      path: '/console/access',
      prepare: async ({ page }) => {
        await page.getByRole('gridcell', { name: 'deny' }).first().click();
        await page.locator('.explanation').waitFor();
      },
    });
    await expectGoodLook(browser, look, {
      name: 'simulator',
      path: '/console/access?view=try&agent=support&tool=desk.mail',
      prepare: ({ page }) => page.locator('.explanation').waitFor(),
    });
  });
});
