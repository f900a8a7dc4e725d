// A real worker process. WORKER holds its options as JSON. CRASH names the point at which it kills itself. STALL names methods of the
// store (separated by commas): after the first answer of each one the process stops itself, as SIGSTOP from outside would.
import { startWorker } from '../../../dist/exports/worker.js';

const options = JSON.parse(process.env.WORKER);
const crashAt = process.env.CRASH;
const stallAfter = process.env.STALL;

function die() {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

/** The real store, with one point at which the process dies. */
async function openCrashingStore(storeOptions) {
  const { openStore } = await import('../../../dist/exports/testing.js');
  const store = await openStore(storeOptions);
  const [when, method] = crashAt.split(' ');
  const original = store[method].bind(store);
  return {
    ...store,
    lanes: store.lanes,
    async [method](request) {
      if (when === 'before') die();
      const answer = await original(request);
      if (method !== 'claimCalls' || answer.deliveries.length > 0) die();
      return answer;
    },
  };
}

/** The real store. The process stops when an answer has arrived, before the worker reads it. */
async function openStallingStore(storeOptions) {
  const { openStore } = await import('../../../dist/exports/testing.js');
  const store = await openStore(storeOptions);
  const stalling = new Set(stallAfter.split(','));
  const stalled = (method) => async (request) => {
    const answer = await store[method](request);
    // Methods stall in the order in which they are listed.
    if ([...stalling][0] === method) {
      stalling.delete(method);
      console.log(`stalled ${method}`);
      process.kill(process.pid, 'SIGSTOP');
    }
    return answer;
  };
  const methods = [...stalling].map((method) => [method, stalled(method)]);
  return { ...store, lanes: store.lanes, ...Object.fromEntries(methods) };
}

const opening = crashAt === undefined ? stallAfter && openStallingStore : openCrashingStore;
const parts = opening === undefined ? [] : [{ openStore: opening }];
const worker = await startWorker({ health: false, ...options }, ...parts);
worker.failed.catch((error) => {
  console.log(`failed ${error.code}`);
  process.exit(70);
});
let signals = 0;
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, async () => {
    signals += 1;
    if (signals > 1) process.exit(1);
    await worker.drain();
    console.log('drained');
    process.exit(0);
  });
}
console.log(`ready ${worker.workerId} ${worker.healthUrl ?? '-'}`);
