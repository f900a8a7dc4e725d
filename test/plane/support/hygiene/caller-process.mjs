// A caller of the hygiene soak. CALLER holds its options as JSON. `{ kind: 'load' }` makes a number of steps, chosen by the seed, and
// answers with counts of how they ended. A caller that is started for one load is then closed by a message, or is killed in the middle of
// it.
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { createHttpSteps } from './http-steps.mjs';

const { dist, store, retentionMs } = JSON.parse(process.env.CALLER);
const { connect } = await import(pathToFileURL(`${dist}/exports/client.js`).href);
const client = await connect({ ...store, retentionMs });
const OPERATOR = { kind: 'operator', name: 'soak' };
const LONG_MS = 20_000;

/** mulberry32: the same seed gives the same steps. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const call =
  (tool, args = {}, options = {}) =>
  ({ session }) =>
    client.call(session, tool, args, { waitMs: LONG_MS, ...options });

/** Makes a call and cancels it by signal after a moment. */
async function cancelBySignal({ session }) {
  const controller = new AbortController();
  const answer = client.call(
    session,
    'near.wait',
    { ms: 30_000 },
    { waitMs: LONG_MS, signal: controller.signal, onEvent: () => undefined },
  );
  setTimeout(() => controller.abort(), 60);
  return answer;
}

async function cancelById({ session }) {
  const answer = await client.call(session, 'near.wait', { ms: 30_000 }, { waitMs: 30 });
  if (answer.kind === 'pending') await client.cancel(session, answer.callId);
  return answer.kind === 'pending' ? client.wait(session, answer.callId, { waitMs: LONG_MS }) : answer;
}

async function pendingThenWait({ session }) {
  const answer = await client.call(session, 'near.wait', { ms: 250 }, { waitMs: 20 });
  return answer.kind === 'pending' ? client.wait(session, answer.callId, { waitMs: LONG_MS }) : answer;
}

async function sameKeyTwice({ session, number }) {
  const options = { key: `twice-${process.pid}-${number}`, waitMs: LONG_MS };
  const both = [1, 2].map(() => client.call(session, 'near.write', { at: number }, options));
  return (await Promise.all(both))[0];
}

async function revokedSession({ number }) {
  const session = await client.openSession({ subject: `gone-${number % 5}`, agent: 'main', lifetimeMs: 6000 });
  const answers = [1, 2].map(() => client.call(session, 'near.wait', { ms: 100 }, { waitMs: LONG_MS }));
  await client.revokeSession(session.id);
  return (await Promise.all(answers))[0];
}

async function idleSession({ number }) {
  const session = await client.openSession({
    subject: `idle-${number % 5}`,
    agent: 'main',
    lifetimeMs: 5000,
    idleMs: 500,
  });
  return client.call(session, 'near.echo', { text: 'once' }, { waitMs: LONG_MS });
}

async function delegated({ session }) {
  const helper = await client.openSession({
    subject: session.subject,
    agent: 'helper',
    delegatedBy: session,
    lifetimeMs: 4000,
  });
  return client.call(helper, 'near.echo', { text: 'for another' }, { waitMs: LONG_MS });
}

async function ownRun({ session }) {
  const run = await client.openRun(session);
  const answer = await client.call(run, 'near.handOver', {}, { waitMs: LONG_MS });
  await client.endRun(session.id, run.run);
  return answer;
}

async function watches({ session }) {
  const stop = [client.watchCatalog(() => undefined), client.watchToolkit(session, () => undefined)];
  await client.toolkit(session);
  await pause(50);
  for (const each of stop) each();
  return undefined;
}

async function abandoned({ session, number }) {
  await client.call(session, 'near.wait', { ms: 100 + (number % 7) * 50 }, { waitMs: 0 });
  return undefined;
}

const asks =
  (fate) =>
  ({ session }) =>
    client.call(session, 'near.asks', { fate }, { waitMs: LONG_MS });

/** A call that is parked and then cancelled. */
async function parkedAndCancelled({ session }) {
  const answer = await client.call(session, 'near.asks', { fate: 'wait' }, { waitMs: 150 });
  if (answer.kind !== 'pending') return answer;
  await client.cancel(session, answer.callId);
  return client.wait(session, answer.callId, { waitMs: LONG_MS });
}

/** Weights and steps. Crashes and approvals are rare, as in any deployment. */
const STEPS = [
  [30, call('near.echo', { text: 'hello' })],
  [8, ({ session, number }) => client.call(session, 'near.write', { at: number }, { waitMs: LONG_MS })],
  [4, ({ session, number }) => client.call(session, 'near.queue', { at: number }, { waitMs: LONG_MS })],
  [2, call('near.fails', { how: 'failure' })],
  [2, call('near.fails', { how: 'denied' })],
  [2, call('near.fails', { how: 'throw' })],
  [2, call('near.late')],
  [4, call('near.large', { characters: 60_000 })],
  [2, call('near.nest', { tool: 'near.echo', args: { text: 'inner' } })],
  [2, call('near.nest', { tool: 'apart.kind', args: {} })],
  [1, call('near.nobody')],
  [1, call('near.echo', { words: 1 })],
  [3, cancelBySignal],
  [3, cancelById],
  [3, pendingThenWait],
  [3, sameKeyTwice],
  [2, revokedSession],
  [2, idleSession],
  [2, delegated],
  [2, ownRun],
  [2, watches],
  [3, abandoned],
  [2, asks('allow-once')],
  [1, asks('allow-always')],
  [1, asks('deny')],
  [2, asks('expire')],
  [1, parkedAndCancelled],
  [6, call('apart.kind')],
  [2, call('apart.exits')],
  [1, call('apart.aborts')],
  [1, call('apart.spins')],
  [1, call('apart.deaf')],
  [1, call('apart.spawns')],
];

/** Decides the questions whose arguments state the decision; the others expire. */
async function decide(isOver) {
  while (!isOver()) {
    const approvals = await client.approvals.list(OPERATOR, { state: 'pending' }).catch(() => []);
    for (const { question } of approvals) {
      const { fate } = JSON.parse(question.arguments);
      if (!question.decisions.includes(fate)) continue;
      const grant = fate === 'allow-always' ? { grant: { lifetimeMs: 2000, uses: 2 } } : {};
      await client.approvals
        .decide(OPERATOR, question.id, { decision: fate, binding: question.binding, ...grant })
        .catch(() => undefined);
    }
    await pause(150);
  }
}

function pick(steps, random) {
  let left = random() * steps.reduce((sum, [weight]) => sum + weight, 0);
  return steps.find(([weight]) => (left -= weight) < 0)[1];
}

/** The outcome in one word, for the counts that show that each kind of step occurred. */
function wordOf(answer) {
  if (answer === undefined) return 'done';
  if (typeof answer === 'string') return answer;
  return answer.kind === 'settled' || answer.kind === 'refused' ? answer.outcome.kind : answer.kind;
}

const SUBJECTS = ['ann', 'ben', 'cat', 'dan'];
const SESSION_MS = 6_000;

/** One session per subject; it is replaced after half of its lifetime. The sessions of a killed caller stay until they expire. */
function createSessions() {
  const held = new Map();
  async function open(subject) {
    const session = await client.openSession({ subject, agent: 'main', lifetimeMs: SESSION_MS });
    return { ...session, subject };
  }
  return {
    of(subject) {
      const known = held.get(subject);
      if (known !== undefined && performance.now() - known.openedAt < SESSION_MS / 2) return known.session;
      const session = open(subject);
      held.set(subject, { session, openedAt: performance.now() });
      session.catch(() => held.delete(subject));
      return session;
    },
    /** Revokes every second session. Of the others it ends only the run; those sessions expire by themselves. */
    async end() {
      const sessions = await Promise.all([...held.values()].map(({ session }) => session.catch(() => undefined)));
      const left = sessions.filter((session) => session !== undefined);
      for (const [index, { id, run }] of left.entries()) {
        await (index % 2 === 0 ? client.revokeSession(id) : client.endRun(id, run)).catch(() => undefined);
      }
    },
  };
}

async function load({ seed, steps, atOnce, http, leak }) {
  const random = randomFrom(seed);
  const sessions = createSessions();
  const all = [
    ...STEPS,
    ...(http === undefined ? [] : createHttpSteps(http)),
    ...(leak ? [[1, call('apart.leaks')]] : []),
  ];
  // Chosen before anything runs, so that the choice depends on the seed and not on timing.
  const chosen = Array.from({ length: steps }, (_, number) => ({
    number,
    step: pick(all, random),
    subject: SUBJECTS[Math.floor(random() * 4)],
  }));
  const endings = {};
  const worker = async () => {
    for (let next = chosen.pop(); next !== undefined; next = chosen.pop()) {
      const { step, number, subject } = next;
      const take = async () => step({ session: await sessions.of(subject), number: seed * 1000 + number });
      const word = await take().then(wordOf, (error) => error?.code ?? error?.cause?.code ?? error?.name ?? 'Error');
      endings[word] = (endings[word] ?? 0) + 1;
    }
  };
  let over = false;
  const deciding = decide(() => over);
  await Promise.all(Array.from({ length: atOnce }, worker));
  over = true;
  await deciding;
  await sessions.end();
  return endings;
}

process.on('message', async ({ id, order }) => {
  if (order === undefined) return;
  if (order.kind === 'close') {
    await client.close();
    process.disconnect();
    return;
  }
  const reply = await load(order).then(
    (answer) => ({ answer }),
    (error) => ({ problem: String(error?.stack ?? error) }),
  );
  process.send({ id, ...reply });
});
process.channel.ref();
console.log('ready');
