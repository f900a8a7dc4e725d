// A worker and a client without telemetry, and what they have loaded after a call.
import { createRequire } from 'node:module';
import { connect } from '../../dist/exports/client.js';
import { startWorker } from '../../dist/exports/worker.js';

const { store, modules, ...options } = JSON.parse(process.env.OPTIONS);
const worker = await startWorker({ ...store, modules, health: false, ...options });
// Checked before anything else is imported: Node.js loads its fetch also when node:http is imported whole.
const fetch = process.moduleLoadList.some((name) => name.includes('undici'));
const { openStore } = await import('../../dist/exports/testing.js');
const owner = await openStore(store);
const { version, policy } = await owner.readPolicy();
await owner.writePolicy({ expectedVersion: version, policy: { ...policy, permissions: { '*': { allow: ['*'] } } } });
const client = await connect(store);
const session = await client.openSession({ subject: 'ada', agent: 'main' });
const { outcome } = await client.call(session, 'near.trace', {}, { waitMs: 30_000 });
const loaded = Object.keys(createRequire(import.meta.url).cache);
const packages = ['@opentelemetry', 'prom-client'].filter((name) => loaded.some((path) => path.includes(`/${name}/`)));
await client.close();
await owner.close();
await worker.drain();
console.log(`done ${JSON.stringify({ packages, fetch, trace: outcome.structured.traceparent ?? null })}`);
