// The whole embedded plane in one process: owner of the store, worker, open policy. OWNER holds the worker's options as JSON.
import { startWorker } from '../../../dist/exports/worker.js';
import { openStore } from '../../../dist/exports/testing.js';

const options = JSON.parse(process.env.OWNER);
const worker = await startWorker({ mode: 'own', health: false, ...options, store: 'embedded' }).catch((error) => {
  console.log(`refused ${error.code} ${JSON.stringify(error.facts)}`);
  process.exit(69);
});
worker.failed.catch((error) => {
  console.log(`failed ${error.code}`);
  process.exit(70);
});

const store = await openStore({ store: 'embedded', folder: options.folder, mode: 'connect' });
const { version } = await store.readPolicy();
const policy = {
  roles: {},
  permissions: { '*': { allow: ['*'] } },
  paused: {},
  loops: options.loops ?? { default: { enabled: false } },
};
if (version === 0) await store.writePolicy({ expectedVersion: 0, policy });
await store.close();

process.once('SIGTERM', async () => {
  await worker.drain();
  process.exit(0);
});
console.log(`ready ${worker.workerId} ${process.pid}`);
