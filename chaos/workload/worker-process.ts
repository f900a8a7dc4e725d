// A worker in a process that may be killed. CHAOS_WORKER holds its options as JSON. After SIGUSR2 it kills itself in the middle of the
// next settlement; SIGTERM drains it. An armed trap stops it: see stop-trap.ts.
import { startWorker, type Log, type WorkerOptions } from 'sallyport';
import { openStore } from 'sallyport/testing';
import { openJournal } from './journal.ts';
import { springTrap, trappable } from './stop-trap.ts';
import { watchStalls, type Stall } from './watch-stalls.ts';

const options = JSON.parse(process.env['CHAOS_WORKER']!) as WorkerOptions;
const note = openJournal<{ pid: number; level: string; message: string; facts: object }>(process.env['CHAOS_LOG']!);
watchStalls(openJournal<Stall>(process.env['CHAOS_STALLS']!));
const MAX_DELAY_MS = 4;
let dies = false;

process.on('SIGUSR2', () => (dies = true));

function die(): void {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

async function openDyingStore(storeOptions: Parameters<typeof openStore>[0]) {
  const store = await openStore(storeOptions);
  const settleCall: typeof store.settleCall = (request) => {
    const settling = store.settleCall(request);
    // Dies at some point between the send of the request and its answer, or just after the answer.
    if (dies) setTimeout(die, Math.random() * MAX_DELAY_MS);
    return settling;
  };
  const startCall: typeof store.startCall = (request) => {
    const starting = store.startCall(request);
    if (trappable.has(request.callId)) springTrap('start', request.callId);
    return starting;
  };
  return { ...store, lanes: store.lanes, settleCall, startCall };
}

function logger(level: string): Log['warn'] {
  return (facts, message) => {
    const plain = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, text(value)]));
    note({ pid: process.pid, level, message, facts: plain });
  };
}

function text(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const cause = value.cause instanceof Error ? ` because ${value.cause.message}` : '';
  return `${value.message}${cause}`;
}

const log: Log = { debug: () => undefined, info: () => undefined, warn: logger('warn'), error: logger('error') };
const worker = await startWorker({ ...options, health: false, log }, { openStore: openDyingStore });
// On a very busy machine a module can fail to load in time. Such a worker has nothing to serve, so it exits; the next start may succeed.
if (worker.loaded.broken.length > 0) {
  console.log(`broken ${JSON.stringify(worker.loaded.broken)}`);
  process.exit(75);
}
worker.failed.catch((error: unknown) => {
  console.log(`failed ${text(error) as string}`);
  process.exit(70);
});
process.on('SIGTERM', () => {
  void worker.drain().then(() => {
    console.log('drained');
    process.exit(0);
  });
});
console.log(`ready ${worker.workerId}`);
