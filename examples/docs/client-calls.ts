import { connect, PlaneError, type CallAnswer, type SessionHandle } from 'sallyport/client';

const client = await connect({ store: 'embedded', mode: 'connect' });

// #region session
const session = await client.openSession({
  tenant: 'acme',
  subject: 'ada',
  agent: 'assistant',
  channel: 'support',
  lifetimeMs: 8 * 60 * 60 * 1000,
  idleMs: 30 * 60 * 1000,
});
// #endregion
show('session until', new Date(session.expiresAt).getFullYear() > 2000);

// #region unattended
const night = await client.openSession({ subject: 'ada', agent: 'reporter', unattended: true });
// Or one run of a session; its other runs stay attended.
const nightRun = await client.openRun(session, { unattended: true });
// #endregion
show('unattended', (await client.call(night, 'dice.roll', {})).kind, nightRun.run.startsWith('unattended-'));

// #region key
const first = await client.call(session, 'dice.roll', { sides: 20 }, { key: 'message-4711/roll-1' });
const again = await client.call(session, 'dice.roll', { sides: 20 }, { key: 'message-4711/roll-1' });
// The same call: `again` replays the number of `first`. Nothing was rolled a second time.
// #endregion
show('replayed', JSON.stringify(first) === JSON.stringify(again));

// #region pending
const started = await client.call(session, 'clock.sleep', { ms: 1500 }, { waitMs: 200 });
if (started.kind === 'pending') {
  // From here or from any other process of the same subject, until retention ends.
  const settled = await client.wait(session, started.callId, { waitMs: 30_000 });
  show('waited', settled.kind);
}
// #endregion

// #region events
const watched = await client.call(
  session,
  'clock.sleep',
  { ms: 1200 },
  {
    onEvent(event) {
      if (event.kind === 'progress') show('progress', event.done, 'of', event.total);
    },
  },
);
// #endregion
show('watched', watched.kind);

// #region abort
const controller = new AbortController();
setTimeout(() => controller.abort(), 300);
const stopped = await client.call(session, 'clock.sleep', { ms: 60_000 }, { signal: controller.signal });
// #endregion
show('stopped', describe(stopped));

// #region outcome
function describe(answer: CallAnswer): string {
  if (answer.kind === 'pending') return `goes on as ${answer.callId}`;
  const { kind, executed, retryable, error } = answer.outcome;
  if (kind === 'ok') return 'done';
  if (executed === 'unknown') return `${kind}: it may have run; check before you repeat it`;
  if (retryable) return `${kind}: send it again, under the same key`;
  return `${kind} (${error?.code}): ${error?.message}`;
}
// #endregion

// #region catalog
const { modules } = await client.catalog();
const tools = modules.flatMap((module) => module.tools.map(({ id, description }) => ({ id, description })));
const stopWatching = client.watchCatalog((catalog) => show('catalog', catalog.modules.length > 0));
stopWatching();
// #endregion
show(
  'tools',
  tools.some(({ id }) => (id as string) === 'dice.roll'),
);

// #region toolkit
const toolkit = await client.toolkit(session);
const shownToTheModel = toolkit.tools.map(({ tool }) => ({ name: tool.id, parameters: tool.inputSchema }));
const problems = toolkit.missing.filter(({ reason }) => reason !== 'not-selected');
const stopFollowing = client.watchToolkit(session, (next) => show('toolkit', next === undefined ? 'ended' : 'shown'));
stopFollowing();
// #endregion
show('toolkit', shownToTheModel.length + problems.length === tools.length);

// #region delegate
const helper = await client.openSession({ tenant: 'acme', subject: 'ada', agent: 'helper', delegatedBy: session });
// #endregion
show('delegated', (await client.toolkit(helper)).tools.length <= toolkit.tools.length);

// #region trouble
async function callPatiently(caller: SessionHandle, key: string): Promise<CallAnswer> {
  for (;;) {
    try {
      return await client.call(caller, 'dice.roll', {}, { key });
    } catch (error) {
      // The store is away. The call may have been accepted; the key makes sure that it is one call.
      if (!(error instanceof PlaneError) || error.code !== 'STORE_UNAVAILABLE') throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
// #endregion
show('patient', describe(await callPatiently(session, 'message-4712/roll-1')));

// #region run
const secondRun = await client.openRun(session);
await client.call(secondRun, 'dice.roll', {});
await client.endRun(session.id, secondRun.run);
await client.touchSession(session.id);
await client.revokeSession(session.id);
// #endregion
show('revoked', describe(await client.call(session, 'dice.roll', {})));

await client.close();

function show(...facts: unknown[]): void {
  console.log(...facts);
}
