// A worker with a large catalog. Argument: its options as JSON. Prints its facts as JSON once it serves. SIGTERM drains it.
import { startWorker, type WorkerOptions } from 'sallyport';
import { openStore } from 'sallyport/testing';
import { peakMb, residentMb } from './resident.ts';

export interface ServeFacts {
  /** Time from the start of the worker until it is ready: modules are described, imported and published. */
  readonly startMs: number;
  readonly residentMb: number;
  readonly peakMb: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as WorkerOptions;
const startedAt = performance.now();
const worker = await startWorker(options);
const startMs = performance.now() - startedAt;

const store = await openStore(options.store === 'redis' ? options : { ...options, mode: 'connect' });
const { version } = await store.readPolicy();
const policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };
if (version === 0) await store.writePolicy({ expectedVersion: 0, policy });
await store.close();

const facts: ServeFacts = { startMs, residentMb: residentMb(process.pid), peakMb: peakMb(process.pid) };
console.log(JSON.stringify(facts));
process.once('SIGTERM', () => void worker.drain().then(() => process.exit(0)));
