import { parentPort, workerData } from 'node:worker_threads';
import type { ServiceHealth } from '../domain/tool/service.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import { describeFullDisk } from '../stores/embedded/free-space.ts';
import { serveHealth, type HealthServer, type Readiness } from '../worker/health-server.ts';
import { supervise } from '../worker/supervise.ts';
import { createVitalSigns } from '../worker/vital-signs.ts';
import { openStore } from '../operate/open-store.ts';
import type { SupervisorMessage, SupervisorOrder, SupervisorSetup } from './supervisor.ts';

/** The consumer loop makes a round at least every two seconds. After three missed rounds it counts as stuck. */
const WEDGED_AFTER_MS = 6000;
const STORE_SILENT_MS = 10_000;
const SCRAPE_MS = 5000;

const setup = workerData as SupervisorSetup;
const send = (message: SupervisorMessage): void => parentPort!.postMessage(message);
const vitals = createVitalSigns(setup.vitals);
const store = await openStore(setup.store);

let services: readonly ServiceHealth[] = [];
let moduleProblems: readonly string[] = [];
/** The folder of an embedded store. Its disk is checked, because calls are refused when the disk is full. */
const folder = setup.store.store === 'embedded' ? (setup.store.folder ?? DEFAULT_FOLDER) : undefined;
let beats = vitals.beats;
let beatSeenAt = performance.now();
const supervision = supervise(
  store,
  setup.held,
  setup.settings,
  (order) => send({ kind: 'stop', order }),
  (error) => send({ kind: 'failed', problem: error instanceof Error ? error.message : String(error) }),
  ({ expired, overdue }) => {
    if (expired.length > 0) send({ kind: 'reaped', callIds: expired, overdue: false });
    if (overdue.length > 0) send({ kind: 'reaped', callIds: overdue, overdue: true });
  },
);

function readiness(): Readiness {
  const now = performance.now();
  if (vitals.beats !== beats) {
    beats = vitals.beats;
    beatSeenAt = now;
  }
  const reasons: string[] = [];
  if (vitals.state !== 'serving') reasons.push(`the worker is ${vitals.state}`);
  if (now - beatSeenAt > WEDGED_AFTER_MS) {
    reasons.push(`the consumer loop has not moved for ${Math.round((now - beatSeenAt) / 1000)} s`);
  }
  if (now - supervision.storeSeenAt > STORE_SILENT_MS) reasons.push('the store does not answer');
  // Leave out the text of the service: it may contain a password, and these reasons are read without a login. The log and `sallyport
  // doctor` show it.
  for (const { service, state } of services) {
    if (state === 'failed') reasons.push(`the service ${service} has failed`);
  }
  reasons.push(...moduleProblems);
  const fullDisk = folder === undefined ? undefined : describeFullDisk(folder);
  if (fullDisk !== undefined) reasons.push(fullDisk);
  const states = Object.fromEntries(services.map(({ service, state }) => [service, state]));
  const facts = {
    workerId: setup.settings.workerId,
    pool: setup.settings.pool,
    running: vitals.running,
    ...(services.length === 0 ? {} : { services: states }),
  };
  return { ready: reasons.length === 0, reasons, facts };
}

/**
 * The requests for metrics that wait for an answer. The main thread counts the metrics, and it also runs the tools: if a tool blocks it, it
 * does not answer, and the request times out with an empty text.
 */
const scrapes = new Map<number, (text: string) => void>();
let lastScrape = 0;
async function scrape(): Promise<string> {
  const id = (lastScrape += 1);
  let timer: NodeJS.Timeout | undefined;
  const text = await new Promise<string>((resolve) => {
    scrapes.set(id, resolve);
    timer = setTimeout(resolve, SCRAPE_MS, '');
    send({ kind: 'scrape', id });
  });
  clearTimeout(timer);
  scrapes.delete(id);
  return text;
}

/** Checks the beats even when no client asks, so that the first request after a quiet time gets a true answer. */
const watcher = setInterval(readiness, 500);

const health: HealthServer | undefined =
  setup.health === undefined
    ? undefined
    : await serveHealth(setup.health, readiness, setup.metrics ? scrape : undefined);
send({ kind: 'ready', ...(health === undefined ? {} : { healthUrl: health.url }) });

parentPort!.on('message', (order: SupervisorOrder) => {
  if (order.kind === 'services') {
    services = order.health;
    return;
  }
  if (order.kind === 'modules') {
    moduleProblems = order.problems;
    return;
  }
  if (order.kind === 'metrics') {
    scrapes.get(order.id)?.(order.text);
    return;
  }
  void (async () => {
    clearInterval(watcher);
    await supervision.stop();
    await health?.close();
    await store.close();
    parentPort!.close();
  })();
});
