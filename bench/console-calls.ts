// Measures how long the console's page of calls takes to open, to filter and to page through in a real browser, with a given number of
// ended calls.
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';
import { startSettledPlane, STORES, type SettledPlane } from './calls-page/settled-plane.ts';
import { explainUsage } from './harness/explain-usage.ts';
import { median, shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';

const ROUNDS = 7;
const GIVE_UP_MS = 60_000;
const CHROMIUM = process.env['SALLYPORT_CHROMIUM'] ?? '/usr/bin/chromium';

const USAGE = 'npm run bench -- console-calls [--calls 100000] [--store embedded|redis] [--json]';
const { values } = explainUsage(USAGE, () =>
  parseArgs({
    options: {
      calls: { type: 'string', default: '100000' },
      store: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  }),
);
const calls = Number(values.calls);
const stores = STORES.filter((store) => values.store === undefined || values.store === store);
if (!(calls >= 1000 && calls <= 1e6) || stores.length === 0) {
  console.error(USAGE);
  process.exit(2);
}

interface Measured {
  readonly store: string;
  readonly what: string;
  readonly firstMs: number;
  readonly medianMs: number;
  readonly mostMs: number;
}

/** One action on the page. It resolves when the expected content is visible. */
interface Step {
  readonly what: string;
  run(page: Page): Promise<void>;
}

async function measure(store: (typeof STORES)[number]): Promise<Measured[]> {
  const plane = await startSettledPlane(store, calls);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(GIVE_UP_MS);
    const { link } = await plane.cli('gateway', 'login-link', '--url', plane.url);
    await page.goto(String(link));
    await page.waitForURL(/\/console\//);
    const rows: Measured[] = [];
    for (const step of stepsOn(plane)) {
      const { what } = step;
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const began = performance.now();
        await step.run(page);
        times.push(performance.now() - began);
        // Each step starts from a page without filters.
        if (!what.startsWith('open')) await open(page, plane);
      }
      rows.push({ store, what, firstMs: times[0]!, medianMs: median(times), mostMs: Math.max(...times) });
    }
    return rows;
  } finally {
    await browser.close();
    await plane.stop();
  }
}

const open = async (page: Page, { url }: SettledPlane): Promise<void> => {
  await page.goto(`${url}/console/calls`);
  await page.locator('.call-link').nth(49).waitFor();
};

function stepsOn(plane: SettledPlane): Step[] {
  return [
    { what: 'open the page', run: (page) => open(page, plane) },
    { what: 'one agent of ten', run: (page) => filter(page, 'Agent', 'agent-3') },
    { what: 'one subject of fifty', run: (page) => filter(page, 'Subject', 'subject-7') },
    { what: 'an agent with one call, the oldest', run: (page) => filter(page, 'Agent', 'first') },
    {
      what: 'not ok, one in a hundred',
      async run(page) {
        await page.getByLabel('Outcome').selectOption('not-ok');
        await untilRows(page, (rows) => rows.length > 1 && rows.every((row) => row.includes('invalid')));
      },
    },
    {
      what: 'a tool that nobody called',
      async run(page) {
        await page.getByLabel('Tool', { exact: true }).fill('bench.none');
        await page.keyboard.press('Enter');
        await page.getByText('No such calls.').waitFor();
      },
    },
    {
      what: 'ten pages back',
      async run(page) {
        for (let pages = 0; pages < 10; pages += 1) {
          const before = await page.locator('.call-link').first().getAttribute('href');
          await page.getByRole('button', { name: 'Older' }).click();
          await page.locator(`tbody tr:first-child .call-link:not([href="${before}"])`).waitFor();
        }
      },
    },
  ];
}

/** Filters the list and waits until all rows match. */
async function filter(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(text);
  await page.keyboard.press('Enter');
  await untilRows(page, (rows) => rows.length > 0 && rows.every((row) => row.includes(text)));
}

/** Polls from outside the page, because the page's content security policy allows no evaluation of code. */
async function untilRows(page: Page, isDone: (rows: readonly string[]) => boolean): Promise<void> {
  const until = performance.now() + GIVE_UP_MS;
  for (;;) {
    const rows = await page.locator('tbody tr').allInnerTexts();
    if (isDone(rows)) return;
    if (performance.now() > until) throw new Error(`${page.url()} shows ${rows.length} other calls: ${rows[0]}`);
    await page.waitForTimeout(5);
  }
}

const rows: Measured[] = [];
for (const store of stores) rows.push(...(await measure(store)));
if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  console.log(
    formatTable(
      ['the page of calls', 'store', 'first ms', 'median ms', 'most ms'],
      rows.map(({ what, store, firstMs, medianMs, mostMs }) => [
        what,
        store,
        shown(firstMs, 1),
        shown(medianMs, 1),
        shown(mostMs, 1),
      ]),
    ),
  );
}
