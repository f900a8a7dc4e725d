// Runs inside an instrumented build: `node drive.mjs worker|caller <store options>`. A caller makes warm calls, one at a time, each
// between two marks. On the embedded store, which one process owns, it also serves the tool.
import { join } from 'node:path';
import { startWorker } from './dist/exports/worker.js';
import { connect } from './dist/exports/client.js';
import { openStore } from './dist/exports/testing.js';
import { mark } from './trace.mjs';

const WARM_UP_CALLS = 50;
const [role, given] = process.argv.slice(2);
const { store, calls } = JSON.parse(given);
mark(`role ${process.pid} ${role}`);

async function serve() {
  const opened = await openStore(store);
  const { version, policy } = await opened.readPolicy();
  const permissions = { 'walk.*': { allow: ['*'] } };
  await opened.writePolicy({ expectedVersion: version, policy: { ...policy, permissions } });
  await opened.close();
  // Warnings are dropped: they would only be about the set-up of this script.
  const log = { debug() {}, info() {}, warn() {}, error: console.error };
  return startWorker({ ...store, modules: join(import.meta.dirname, 'modules'), health: false, log });
}

async function makeCalls() {
  const client = await connect(store);
  const session = await client.openSession({ subject: 'ada', agent: 'assistant' });
  for (let call = 0; call < WARM_UP_CALLS + calls; call += 1) {
    const isCounted = call >= WARM_UP_CALLS;
    if (isCounted) mark('begin');
    const answer = await client.call(session, 'walk.echo', { text: `call ${call}` });
    if (isCounted) mark('end');
    if (answer.kind === 'pending' || answer.outcome.kind !== 'ok') throw new Error(`not ok: ${JSON.stringify(answer)}`);
  }
  await client.close();
}

if (role === 'worker') {
  const worker = await serve();
  process.once('message', () => void worker.drain().then(() => process.disconnect()));
  process.send('serving');
} else {
  const worker = role === 'caller and worker' ? await serve() : undefined;
  await makeCalls();
  await worker?.drain();
}
