// A real worker process. WORKER holds its options as JSON; CRASH names the point at which it kills itself.
import { startWorker } from '../../../dist/exports/worker.js';

const options = JSON.parse(process.env.WORKER);
const crashAt = process.env.CRASH;

function die() {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

/** The store as it is, with one point at which the process dies. */
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

const parts = crashAt === undefined ? [] : [{ openStore: openCrashingStore }];
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
