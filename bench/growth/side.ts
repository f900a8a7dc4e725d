// Worker or caller of one plane, or both in one process if the store is embedded. Takes its orders over IPC.
import { startWorker, type RunningWorker } from 'sallyport';
import { connect, type Client, type SessionHandle } from 'sallyport/client';
import { openStore, type StoreOptions } from 'sallyport/testing';
import { agentName } from '../toolkits/population.ts';
import { serveOrders } from '../harness/serve-orders.ts';
import { policyOf, type Population } from './population.ts';

export type Order =
  | { readonly kind: 'serve'; readonly store: StoreOptions; readonly modules: string; readonly retentionMs: number }
  | { readonly kind: 'open'; readonly store: StoreOptions; readonly population: Population }
  | { readonly kind: 'run'; readonly calls: number; readonly concurrency: number }
  | { readonly kind: 'touch' }
  | { readonly kind: 'stop-serving' };

export interface RunResult {
  readonly calls: number;
  readonly elapsedMs: number;
}

interface Target {
  readonly session: SessionHandle;
  readonly tool: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const WORKER_CONCURRENCY = 128;
const SERVE_ATTEMPTS = 3;
/** Number of sessions that are opened at the same time. */
const OPEN_AT_ONCE = 500;
/** A million outcomes are more than a deployment keeps by default, so the limit is raised. */
const ADMISSION = { retainedBytes: 2 ** 40 };

let worker: RunningWorker | undefined;
let client: Client | undefined;
let targets: Target[] = [];
let made = 0;

async function obey(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'serve':
      return serve(order);
    case 'open':
      return open(order.store, order.population);
    case 'run':
      return run(order.calls, order.concurrency);
    case 'touch':
      // Calls every session and tool once, so that work done at first use is not measured.
      return run(targets.length, 64);
    case 'stop-serving':
      await worker?.drain();
      worker = undefined;
      return undefined;
  }
}

async function serve({ store, modules, retentionMs }: Extract<Order, { kind: 'serve' }>): Promise<void> {
  // On a busy machine, importing a module may take longer than the worker waits, so the start is retried.
  for (let attempt = 1; ; attempt += 1) {
    worker = await startWorker({ ...store, modules, retentionMs, concurrency: WORKER_CONCURRENCY, health: false });
    const [broken] = worker.loaded.broken;
    if (broken === undefined) return;
    if (attempt === SERVE_ATTEMPTS) throw new Error(`a module of the bench is not served: ${broken.reason}`);
    await worker.drain();
  }
}

async function open(store: StoreOptions, population: Population): Promise<void> {
  const admin = await openStore(store);
  const { version } = await admin.readPolicy();
  await admin.writePolicy({ expectedVersion: version, policy: policyOf(population) });
  await admin.close();
  client = await connect({ ...store, admission: ADMISSION });
  targets = [];
  for (let first = 0; first < population.sessions; first += OPEN_AT_ONCE) {
    const count = Math.min(OPEN_AT_ONCE, population.sessions - first);
    targets.push(
      ...(await Promise.all(Array.from({ length: count }, (_, index) => openTarget(first + index, population)))),
    );
  }
}

/** Each session calls one tool that its agent has. */
async function openTarget(index: number, { agents }: Population): Promise<Target> {
  const agent = agentName(index % agents);
  const session = await client!.openSession({ subject: `subject-${index}`, agent, lifetimeMs: DAY_MS });
  const { tools } = await client!.toolkit(session);
  const tool = tools[(index * 31) % tools.length];
  if (tool === undefined) throw new Error(`${agent} has no tool`);
  return { session, tool: tool.tool.id };
}

async function run(calls: number, concurrency: number): Promise<RunResult> {
  const startedAt = performance.now();
  let begun = 0;
  async function callOnAndOn(): Promise<void> {
    while (begun < calls) {
      begun += 1;
      made += 1;
      const { session, tool } = targets[made % targets.length]!;
      const answer = await client!.call(session, tool, { text: `record ${made} of this bench` }, { waitMs: 120_000 });
      if (answer.kind !== 'settled' || answer.outcome.kind !== 'ok')
        throw new Error(`call ${made} of ${tool} ended as ${JSON.stringify(answer)}`);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, callOnAndOn));
  return { calls: begun, elapsedMs: performance.now() - startedAt };
}

serveOrders(obey, async () => {
  await client?.close();
  await worker?.drain();
});
