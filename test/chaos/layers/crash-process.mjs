// A worker, a caller or a gateway that dies at one point of its exchange with the store, or kills the store there. OPTIONS and ROLE
// define it. TRACE is the file for its requests and their answers; each line is written at once, so that the file outlives the
// process.
import { appendFileSync } from 'node:fs';
import { createClientOf } from '../../../dist/compose/connect.js';
import { auditOptionsOf } from '../../../dist/operate/audit-options.js';
import { openStore } from '../../../dist/operate/open-store.js';
import { startGateway } from '../../../dist/compose/start-gateway.js';
import { startWorker } from '../../../dist/compose/start-worker.js';
import { configSchema } from '../../../dist/config/config-schema.js';

const { ROLE, TRACE } = process.env;
const options = JSON.parse(process.env.OPTIONS);
const TAKING = new Set(['claimCalls', 'reclaimCalls']);
/** The maximum wait of a claim, in milliseconds: short, so that a closed gate is noticed soon. */
const MAX_WAIT_MS = 50;

let point;
let seen = new Map();
let isOpen = false;
let opened = Promise.withResolvers?.() ?? deferred();
let taking = 0;
let storeIsBack = () => {};

function deferred() {
  const made = {};
  made.promise = new Promise((resolve) => (made.resolve = resolve));
  return made;
}

function die() {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

/** Appends a line to the trace. What a gateway does before `go` and after `halt` is not traced. */
function note(line) {
  if (isOpen || ROLE !== 'gateway') appendFileSync(TRACE, `${line}\n`);
}

/** Counts how often this place is passed. On the `hit`-th time it ends this process, or has the store killed and waits for its return. */
async function reach(when, method) {
  if (!isOpen) return;
  const place = `${when} ${method}`;
  const count = (seen.get(place) ?? 0) + 1;
  seen.set(place, count);
  if (point === undefined || point.place !== place || point.hit !== count) return;
  note(`died ${place}`);
  if (point.victim === 'self') die();
  const back = new Promise((resolve) => (storeIsBack = resolve));
  process.send({ kind: 'kill-store' });
  await back;
}

/** A claim that finds nothing is not a point: whether it happens depends only on timing. */
const isEmpty = (method, answer) => TAKING.has(method) && answer.deliveries.length === 0;

function watched(store, method) {
  return async (request) => {
    if (TAKING.has(method)) {
      while (!isOpen) await opened.promise;
      taking += 1;
      request = {
        ...request,
        ...(request.waitMs === undefined ? {} : { waitMs: Math.min(request.waitMs, MAX_WAIT_MS) }),
      };
    }
    try {
      const id = request?.callId ?? '';
      await reach('before', method);
      note(`before ${method} ${id}`);
      const answer = await store[method](request);
      if (isEmpty(method, answer)) return answer;
      note(`after ${method} ${id}`);
      await reach('after', method);
      return answer;
    } finally {
      if (TAKING.has(method)) taking -= 1;
    }
  };
}

async function openWatched(storeOptions) {
  const store = await openStore(storeOptions);
  const methods = Object.keys(store).filter((name) => typeof store[name] === 'function' && name !== 'close');
  return { ...store, lanes: store.lanes, ...Object.fromEntries(methods.map((name) => [name, watched(store, name)])) };
}

const open = (message) => {
  point = message.point;
  seen = new Map();
  isOpen = true;
  opened.resolve();
};

async function halt() {
  isOpen = false;
  opened = deferred();
  while (taking > 0) await new Promise((resolve) => setImmediate(resolve));
  process.send({ kind: 'halted' });
}

const worker =
  ROLE === 'worker' ? await startWorker({ health: false, ...options }, { openStore: openWatched }) : undefined;
const client = ROLE === 'caller' ? createClientOf(await openWatched(options), {}) : undefined;
const gateway = ROLE === 'gateway' ? await startWatchedGateway() : undefined;

function startWatchedGateway() {
  const { config: given, ...store } = options;
  const config = configSchema.parse(given);
  return startGateway(
    { ...store, audit: auditOptionsOf(config), http: config, health: false },
    { openStore: openWatched },
  );
}

process.on('message', async (message) => {
  if (message.kind === 'go') {
    open(message);
    process.send({ kind: 'going' });
  }
  if (message.kind === 'halt') await halt();
  if (message.kind === 'store-back') storeIsBack();
  if (message.kind === 'call') {
    open(message);
    const { session, tool, args, more } = message;
    const answer = await client
      .call(session, tool, args, more)
      .catch((error) => ({ kind: 'thrown', code: error.code }));
    process.send({ kind: 'answer', answer });
  }
});
process.once('SIGTERM', async () => {
  isOpen = true;
  opened.resolve();
  await worker?.drain();
  await client?.close();
  await gateway?.drain();
  process.exit(0);
});
console.log(`ready ${gateway?.http.url ?? ''}`);
