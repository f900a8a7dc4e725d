import { startWorker, type RunningWorker } from 'sallyport';
import { connect, type DiagnosticEvent } from 'sallyport/client';

export async function startWatchedWorker(): Promise<RunningWorker> {
  // #region worker
  const worker = await startWorker({
    store: 'redis',
    redis: { url: 'redis://127.0.0.1:6379' },
    modules: 'modules',
    onEvent(event) {
      if (event.kind === 'tool.failed') console.log(event.tool, event.error.category, event.durationMs);
    },
  });
  // #endregion
  return worker;
}

// #region client
const client = await connect({
  store: 'embedded',
  mode: 'connect',
  onEvent: ({ seq, kind, tool }) => console.log(seq, kind, tool),
});
// #endregion

const session = await client.openSession({ subject: 'ada', agent: 'assistant' });
const counts = new Map<string, number>();

// #region subscribe
const stop = client.events.subscribe({
  kinds: ['call.refused', 'call.answered'],
  where: { run: session.run },
  maxWaiting: 100,
  async listener(event) {
    if (event.kind === 'events.lost') console.warn(`${event.lost} events went by while we were busy`);
    else await sendToMetrics(event);
  },
});
// #endregion

// #region trace
await client.call(
  session,
  'clock.now',
  {},
  { trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', traceState: 'congo=t61rcWkgMzE' },
);
// #endregion
await client.call(session, 'clock.gone', {});

async function sendToMetrics({ kind }: DiagnosticEvent): Promise<void> {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

await new Promise((resolve) => setImmediate(resolve));
stop();
await client.close();
console.log('counted', JSON.stringify(Object.fromEntries(counts)));
