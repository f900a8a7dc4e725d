// Measures how long the list of calls takes to open, to filter and to page through over HTTP, with a given number of ended calls.
import { parseArgs } from 'node:util';
import { startSettledPlane, STORES } from './calls-page/settled-plane.ts';
import { explainUsage } from './harness/explain-usage.ts';
import { median, shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';

const ROUNDS = 15;

const USAGE = 'npm run bench -- calls-page [--calls 100000] [--store embedded|redis] [--json]';
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
  readonly items: number;
  readonly medianMs: number;
  readonly mostMs: number;
}

async function measure(kind: (typeof STORES)[number]): Promise<Measured[]> {
  const plane = await startSettledPlane(kind, calls);
  try {
    const { token } = await plane.cli('tokens', 'create', 'bench', '--scope', 'operator');
    return await readLists(kind, plane.url, String(token));
  } finally {
    await plane.stop();
  }
}

interface Page {
  readonly items: readonly { readonly settledAt: number }[];
  readonly next?: string;
}

async function readLists(store: string, url: string, token: string): Promise<Measured[]> {
  const read = async (query: string): Promise<Page> => {
    const answer = await fetch(`${url}/v1/calls?${query}`, { headers: { authorization: `Bearer ${token}` } });
    if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Page;
  };
  const began = performance.now();
  const cold = await read('limit=50');
  const coldMs = performance.now() - began;
  await untilRemembered(url, token);
  // Pages half way down by cursors, like a user who scrolls.
  let page = await read('limit=500');
  for (let shownCalls = 500; shownCalls < calls / 2 && page.next !== undefined; shownCalls += 500) {
    page = await read(`limit=500&cursor=${page.next}`);
  }
  const middle = page.items[0]!.settledAt;
  const deep = page.next;
  const queries: Record<string, string> = {
    'the first page': 'limit=50',
    'the first page, 500 calls': 'limit=500',
    'one agent of ten': 'agent=agent-3',
    'one subject of fifty': 'subject=subject-7',
    'not ok, one in a hundred': 'outcome=not-ok',
    'an agent with one call, the oldest': 'agent=first',
    'a tool that nobody called': 'tool=bench.none',
    'until half of the time': `to=${middle}`,
    ...(deep === undefined ? {} : { 'a page half way down': `limit=500&cursor=${deep}` }),
  };
  const rows: Measured[] = [
    { store, what: 'the first page, gateway just started', items: cold.items.length, medianMs: coldMs, mostMs: coldMs },
  ];
  for (const [what, query] of Object.entries(queries)) {
    const times: number[] = [];
    let items = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const start = performance.now();
      ({ length: items } = (await read(query)).items);
      times.push(performance.now() - start);
    }
    rows.push({ store, what, items, medianMs: median(times), mostMs: Math.max(...times) });
  }
  return rows;
}

/** Waits until the gateway has read all records once; the statistics answer only after that. */
async function untilRemembered(url: string, token: string): Promise<void> {
  const began = performance.now();
  await fetch(`${url}/v1/statistics`, { headers: { authorization: `Bearer ${token}` } });
  if (!values.json) console.log(`reading what is remembered took ${shown(performance.now() - began)} ms`);
}

const rows: Measured[] = [];
for (const store of stores) rows.push(...(await measure(store)));
if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  console.log(
    formatTable(
      ['list of calls', 'store', 'calls shown', 'median ms', 'most ms'],
      rows.map(({ what, store, items, medianMs, mostMs }) => [
        what,
        store,
        shown(items),
        shown(medianMs, 1),
        shown(mostMs, 1),
      ]),
    ),
  );
}
