import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../src/exports/client.ts';
import type { CallId } from '../../src/domain/identity/ids.ts';
import { GROUP, laneKeys } from '../../src/stores/redis/keys.ts';
import { bodyDigest } from '../../src/domain/tool/digest.ts';
import { callIdFor, newWorkerId, randomId } from '../../src/domain/identity/new-id.ts';
import { encode } from '../../src/base/message-pack.ts';
import {
  acceptMany,
  acceptRequest,
  acceptOne,
  claimMany,
  openSession,
  POOL,
  settleRequest,
  startRequest,
} from '../contract/fixtures.ts';
import { eventually } from '../support/process.ts';
import { LEASE_MS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { audit, callFor, holdRun, marksOf, runOnce, untilMarks, untilStoreTime } from './support/watch-plane.ts';

/** These tests write past the functions, as anyone with the server's password can. Nothing of it may run, stop a worker or stay. */
const KEYS = laneKeys('sallyport', 0);
const STREAM = KEYS.stream('default');
const TWENTY_MB = Buffer.alloc(20_000_000, 0x78);

type Fields = Readonly<Record<string, string | Uint8Array>>;

let plane: StagedPlane;
let raw: Redis;
let session: SessionHandle;
beforeEach(async () => {
  plane = await stagePlane('redis');
  raw = new Redis(plane.redis!.url);
  session = await plane.openSession();
});
afterEach(async () => {
  raw.disconnect();
  await plane.stop();
});

function add(fields: Fields, id = '*'): Promise<string> {
  const list = Object.entries(fields).flatMap(([name, value]) => [
    name,
    typeof value === 'string' ? value : Buffer.from(value),
  ]);
  return raw.xadd(STREAM, id, ...list) as Promise<string>;
}

/** Whether the entry is neither in the stream nor in the pending list of any worker. */
async function isGone(id: string): Promise<boolean> {
  const entries = await raw.xrange(STREAM, id, id);
  const pending = (await raw.xpending(STREAM, GROUP, id, id, 1)) as unknown[];
  return entries.length === 0 && pending.length === 0;
}

async function stillThere(added: ReadonlyMap<string, string>): Promise<string[]> {
  const left: string[] = [];
  for (const [id, what] of added) if (!(await isGone(id))) left.push(what);
  return left;
}

async function untilGone(added: ReadonlyMap<string, string>): Promise<void> {
  let left = [...added.values()];
  const isClear = async (): Promise<boolean> => {
    left = await stillThere(added);
    return left.length === 0;
  };
  const waiting = eventually(isClear, { everyMs: 250, what: 'the junk to be cleared away' });
  // A list of the entries that stay says more than the error of the timeout.
  await waiting.catch(() => undefined);
  expect(left).toStrictEqual([]);
}

function serves(label: string): Promise<unknown> {
  return callFor(plane, session, 'scenario.write', runOnce(plane, label)).then((outcome) =>
    expect(outcome.kind).toBe('ok'),
  );
}

/** An entry as accept would have written it, for a call that was never accepted. */
async function forgedEntry(
  tool: string,
  args: object,
  given: { callId?: string; subject?: string } = {},
): Promise<Fields> {
  const text = JSON.stringify(args);
  const { modules } = await plane.client.catalog();
  const toolDigest = modules.flatMap(({ tools }) => tools).find(({ id }) => id === tool)!.digest;
  const digest = bodyDigest(tool, text);
  const now = await plane.store.now();
  const epoch = await raw.hget(KEYS.meta, 'epoch');
  const identity = JSON.stringify({ tenant: 'default', subject: given.subject ?? 'alice', agent: 'main' });
  const key = randomId();
  const facts = [identity, session.id, session.run, epoch, now + 60_000, now, now + 60_000, '0', tool, ''];
  const envelope = {
    version: 1,
    session: session.id,
    run: session.run,
    tool,
    toolDigest,
    arguments: text,
    key,
    depth: 0,
  };
  return { c: given.callId ?? callIdFor(session.id, key)!, m: facts.join('\n'), d: digest, e: encode(envelope) };
}

describe('a forged queue entry', () => {
  it('is never run, leaves no call and no audit, and is cleared away', async () => {
    const worker = await plane.startWorker();
    const written = await forgedEntry('scenario.write', runOnce(plane, 'forged'), { subject: 'operator' });
    const unknown = callIdFor(session.id, 'never-accepted')!;
    const rows: readonly (readonly [string, Fields])[] = [
      ['B01 no call id', { x: '1' }],
      ['B01 an empty call id', { ...written, c: '' }],
      ['B02 junk fields before the call id', { evil: '1', ...written }],
      ['B02 junk fields behind it', { ...written, fence: '9', approval_id: 'x', lease: '1' }],
      ['B03 an unknown call id alone', { c: unknown }],
      ['B03 an unknown call id with everything', written],
      ['B06 a call id with a newline', { ...written, c: `${unknown}\n1` }],
      ['B06 a call id with braces', { ...written, c: '{sallyport:1}:meta' }],
      ['B06 a call id of 256 characters', { ...written, c: 'x'.repeat(256) }],
      ['B06 a call id of another lane', { ...written, c: unknown.replace(/^0/, '7') }],
      ['B20 a call id of 20 MB', { ...written, c: TWENTY_MB }],
      ['B20 an envelope of 20 MB', { ...written, e: TWENTY_MB }],
      ['B20 a junk field of 20 MB', { ...written, junk: TWENTY_MB }],
      ['B22 fence "NaN"', { ...written, s: 'NaN,0,,0' }],
      ['B22 fence "-1"', { ...written, s: '-1,0,,0' }],
      ['B22 fence "1e9"', { ...written, s: '1e9,0,,0' }],
      ['B23 bytes that are no UTF-8', { ...written, m: Buffer.from('c328c328', 'hex') }],
      ['B24 an envelope that is none', { ...written, e: Buffer.from('c1', 'hex') }],
      ['B17 a body that is not there', { ...written, e: '', x: '10' }],
      ['forged meta of three lines', { ...written, m: 'a\nb\nc' }],
      ['a forged identity that is no JSON', { ...written, m: String(written['m']).replace(/^.*\n/, 'operator\n') }],
      ['forged facts of earlier starts', { ...written, s: 'many,harmless,maybe' }],
      ['a forged decision', { ...written, w: encode({ approved: true }) }],
      ['a privileged tool with a forged identity', await forgedEntry('basic.privileged', {}, { subject: 'operator' })],
    ];
    await serves('before');
    const before = {
      keys: await raw.keys('*'),
      audited: (await audit(plane)).length,
      calls: await raw.hlen(KEYS.calls),
    };
    const added = new Map<string, string>();
    for (const [what, fields] of rows) added.set(await add(fields), what);
    await serves('during');
    await untilGone(added);

    expect(marksOf(plane, 'S').map(({ label }) => label)).toStrictEqual(['before', 'during']);
    expect(await audit(plane)).toHaveLength(before.audited + 1);
    expect((await raw.keys('*')).filter((key) => !before.keys.includes(key))).toStrictEqual([]);
    expect(await raw.hlen(KEYS.calls)).toBe(before.calls + 1);
    expect(await plane.store.listCalls({ limit: 10 })).toStrictEqual([]);
    expect(worker.process.exit).toBeUndefined();
    await serves('afterwards');
  });

  it('of a read tool may run, because it needs the password, but gets no answer', async () => {
    await plane.startWorker();
    const fields = await forgedEntry('scenario.read', runOnce(plane, 'forged-read'));
    const added = new Map([[await add(fields), 'forged read']]);
    await untilGone(added);
    expect(marksOf(plane, 'S', 'forged-read').length).toBeLessThanOrEqual(1);
    expect(await audit(plane)).toStrictEqual([]);
    expect(await plane.store.readCall(String(fields['c']) as CallId)).toBeUndefined();
  });

  it('with an endless call id does not cost its neighbours their leases', async () => {
    await plane.startWorker();
    const neighbour = holdRun(plane, 'neighbour');
    const calling = callFor(plane, session, 'scenario.write', neighbour.args);
    await untilMarks(plane, 'S', 'neighbour');
    const id = await add(await forgedEntry('scenario.read', runOnce(plane, 'endless'), { callId: 'x'.repeat(300) }));
    await untilStoreTime(plane, 2 * LEASE_MS);
    neighbour.release();
    expect((await calling).kind).toBe('ok');
    expect(marksOf(plane, 'A', 'neighbour')).toStrictEqual([]);
    await untilGone(new Map([[id, 'endless']]));
    expect(marksOf(plane, 'S', 'endless')).toStrictEqual([]);
  });

  it('in a thousand copies neither stops the worker nor stands before the recovery of lost calls', async () => {
    const lost = await plane.startWorker();
    for (let index = 0; index < 1000; index += 1) await add({ c: `junk-${index}`, m: 'a\nb' });
    const read = holdRun(plane, 'lost', { firstOnly: true });
    const calling = callFor(plane, session, 'scenario.read', read.args);
    await untilMarks(plane, 'S', 'lost');
    lost.process.kill('SIGKILL');
    const heir = await plane.startWorker();
    await serves('beside-junk');
    expect(await calling).toMatchObject({ kind: 'ok' });
    expect(heir.process.exit).toBeUndefined();
  });

  it('with an id from the far future is cleared away, and the calls behind it are served', async () => {
    await plane.startWorker();
    const id = await add({ c: 'junk' }, '9999999999999-0');
    await serves('behind');
    await untilGone(new Map([[id, 'future']]));
    expect(marksOf(plane, 'S', 'behind')).toHaveLength(1);
  });
});

describe('an entry whose record or body is not what it should be', () => {
  const wrongRecords: readonly (readonly [string, string | Buffer])[] = [
    ['nothing', ''],
    ['text that is no record', 'junk'],
    ['the beginning of a record', '1q10'],
    ['a record whose lengths are wrong', Buffer.from('1q10\u0000\u0000\u0000\u0000\u00ff\u00ff\u00ff', 'latin1')],
    ['a record of another version', Buffer.from('2q10'.padEnd(100, '\0'), 'latin1')],
  ];
  it('B04: a record of another kind: cleared away, and neighbours are started and recovered', async () => {
    const worker = await plane.startWorker();
    const added = new Map<string, string>();
    for (const [what, bytes] of wrongRecords) {
      const fields = await forgedEntry('scenario.write', runOnce(plane, 'forged'));
      await raw.hset(KEYS.calls, String(fields['c']), bytes);
      added.set(await add(fields), what);
    }
    await serves('beside');
    await untilGone(added);
    expect(marksOf(plane, 'S').map(({ label }) => label)).toStrictEqual(['beside']);
    expect(worker.process.exit).toBeUndefined();
  });

  it('B04: a record of another kind among those that are due does not stop the others from expiring', async () => {
    await plane.startWorker();
    const owner = await openSession(plane.store);
    const junk = callIdFor(owner.id, 'junk')!;
    await raw.hset(KEYS.calls, junk, 'junk');
    await raw.zadd(KEYS.live, 1, junk);
    // A pool that no worker serves.
    const due = await acceptOne(plane.store, owner, { deadlineMs: 100 });
    const record = await eventually(
      async () => {
        const found = await plane.store.readCall(due);
        return found?.state === 'settled' ? found : undefined;
      },
      { what: 'the call to expire' },
    );
    expect(record).toMatchObject({ callId: due, starts: 0 });
  });

  it('a body by reference that is of another type does not take its neighbours along', async () => {
    const worker = await plane.startWorker();
    worker.process.kill('SIGSTOP');
    const fields = await forgedEntry('scenario.write', runOnce(plane, 'forged'));
    await raw.rpush(KEYS.body(String(fields['c'])), 'x');
    // The read that waits takes the first entry alone; the next read takes all others together.
    const first = await add({ c: 'junk' });
    const id = await add({ ...fields, e: '', x: '10' });
    const neighbours = ['one', 'two', 'three'].map((label) => serves(label));
    await eventually(async () => (await raw.xlen(STREAM)) === 5);
    worker.process.kill('SIGCONT');
    await Promise.all(neighbours);
    await untilGone(
      new Map([
        [first, 'the first entry'],
        [id, 'the entry'],
      ]),
    );
    // The neighbours were read together with the junk and were not lost with it: fence 1 means that each was delivered only once.
    expect(marksOf(plane, 'S').map(({ fence }) => fence)).toStrictEqual([1, 1, 1]);
  });
});

describe('a session that was overwritten', () => {
  const changes: readonly (readonly [string, (key: string) => Promise<unknown>])[] = [
    ['of another type', async (key) => (await raw.del(key), raw.set(key, 'x'))],
    ['with facts that are none', (key) => raw.hset(key, 'facts', 'junk')],
    ['without the time it was seen', (key) => raw.hdel(key, 'seen')],
  ];
  it.each(changes)('%s: is unknown, and another session accepted with it is not disturbed', async (_what, change) => {
    const [good, bad] = [await openSession(plane.store), await openSession(plane.store)];
    await change(KEYS.session(bad.id));
    const [refused, accepted] = await Promise.all(
      [bad, good].map((session) => plane.store.acceptCall(acceptRequest(session))),
    );
    expect(refused).toStrictEqual({ kind: 'unauthenticated', ending: 'unknown' });
    expect(accepted).toMatchObject({ kind: 'accepted' });
  });
});

describe('a record that was overwritten, in one batch with others', () => {
  /** Holds two calls for one worker and destroys the record of the second one. */
  async function holdTwo() {
    const store = plane.store;
    const owner = await openSession(store);
    const workerId = newWorkerId();
    await acceptMany(store, owner, 2);
    const [good, bad] = await claimMany(store, { workerId });
    await raw.hset(KEYS.calls, bad!.callId, 'junk');
    return { good: good!, bad: bad! };
  }

  it('leaves no start mark behind for a call whose worker got an error', async () => {
    const { good, bad } = await holdTwo();
    const [started] = await Promise.allSettled([
      plane.store.startCall(startRequest(good)),
      plane.store.startCall(startRequest(bad)),
    ]);
    const { starts } = (await plane.store.readCall(good.callId))!;
    // Either the start was answered and counts, or it failed and nothing happened.
    expect({ told: started.status, starts }).toStrictEqual({
      told: started.status,
      starts: started.status === 'fulfilled' ? 1 : 0,
    });
  });

  it('does not settle a neighbour by halves: outcome, audit and end of lease are one step', async () => {
    const { good, bad } = await holdTwo();
    const [settled] = await Promise.allSettled([
      plane.store.settleCall(settleRequest(good)),
      plane.store.settleCall(settleRequest(bad)),
    ]);
    const { state } = (await plane.store.readCall(good.callId))!;
    const facts = {
      told: settled.status,
      state,
      audited: (await audit(plane)).length,
      gone: (await raw.xlen(KEYS.stream(POOL))) === 1,
    };
    const whole = { told: 'fulfilled', state: 'settled', audited: 1, gone: true };
    const nothing = { told: 'rejected', state: 'queued', audited: 0, gone: false };
    expect(facts).toStrictEqual(settled.status === 'fulfilled' ? whole : nothing);
  });
});

describe('an entry of a call that was accepted', () => {
  it('B08: queued twice is started once, and the copy is cleared away', async () => {
    const worker = await plane.startWorker();
    worker.process.kill('SIGSTOP');
    const calling = callFor(plane, session, 'scenario.write', runOnce(plane, 'twice'));
    await eventually(async () => (await raw.xlen(STREAM)) === 1);
    const [[, fields]] = (await raw.xrangeBuffer(STREAM, '-', '+')) as unknown as [[Buffer, Buffer[]]];
    const copy = (await raw.xadd(STREAM, '*', ...fields)) as string;
    worker.process.kill('SIGCONT');
    expect((await calling).kind).toBe('ok');
    await untilGone(new Map([[copy, 'the copy']]));
    expect(marksOf(plane, 'S', 'twice')).toHaveLength(1);
    expect(await audit(plane)).toHaveLength(1);
  });

  it('B07: of a settled call is not started, and its outcome stays', async () => {
    const worker = await plane.startWorker();
    worker.process.kill('SIGSTOP');
    const calling = callFor(plane, session, 'scenario.write', runOnce(plane, 'settled'), { key: 'settled' });
    await eventually(async () => (await raw.xlen(STREAM)) === 1);
    const [[, fields]] = (await raw.xrangeBuffer(STREAM, '-', '+')) as unknown as [[Buffer, Buffer[]]];
    worker.process.kill('SIGCONT');
    await calling;
    const record = await plane.store.readCall(callIdFor(session.id, 'settled')!);
    const late = (await raw.xadd(STREAM, '*', ...fields)) as string;
    await untilGone(new Map([[late, 'the late entry']]));
    expect(marksOf(plane, 'S', 'settled')).toHaveLength(1);
    expect(await plane.store.readCall(callIdFor(session.id, 'settled')!)).toStrictEqual(record);
    expect(await audit(plane)).toHaveLength(1);
  });

  it.each(['queued', 'held by a lost worker'])(
    'B18: deleted by hand while %s, ends as BODY_LOST at its deadline',
    async (state) => {
      const dying = await plane.startWorker({}, state === 'queued' ? undefined : 'after claimCalls');
      if (state === 'queued') await dying.process.stop();
      const calling = callFor(plane, session, 'scenario.write', runOnce(plane, 'trimmed'), { deadlineMs: 5000 });
      if (state !== 'queued') await dying.process.exited;
      const [[id]] = (await eventually(async () => {
        const entries = await raw.xrange(STREAM, '-', '+');
        return entries.length > 0 ? entries : undefined;
      })) as [[string, string[]]];
      await raw.xdel(STREAM, id);
      await plane.startWorker();
      expect(await calling).toMatchObject({ kind: 'indeterminate', error: { code: 'BODY_LOST' } });
      expect(marksOf(plane, 'S', 'trimmed')).toStrictEqual([]);
      expect(await audit(plane)).toHaveLength(1);
      expect(await raw.hgetall(`${KEYS.prefix}window:default`)).toStrictEqual({});
      await untilGone(new Map([[id, 'the trimmed entry']]));
      await serves('afterwards');
    },
  );

  it('B17: with a large body deleted by hand ends as BODY_LOST', async () => {
    const worker = await plane.startWorker();
    worker.process.kill('SIGSTOP');
    const args = { file: plane.effectFile, label: 'x'.repeat(100_000) };
    const calling = callFor(plane, session, 'scenario.write', args, { key: 'large' });
    const body = KEYS.body(callIdFor(session.id, 'large')!);
    await eventually(async () => (await raw.exists(body)) === 1);
    await raw.del(body);
    worker.process.kill('SIGCONT');
    expect(await calling).toMatchObject({ kind: 'indeterminate', error: { code: 'BODY_LOST' } });
    expect(plane.effects()).toStrictEqual([]);
    await serves('afterwards');
  });
});

describe('a pool that was taken away', () => {
  const ways: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['its group', () => raw.xgroup('DESTROY', STREAM, GROUP)],
    ['its stream', () => raw.del(STREAM)],
    ['its stream, with text in its place', () => raw.multi().del(STREAM).set(STREAM, 'x').exec()],
  ];
  it.each(ways)('B27: without %s the worker stops and says why', async (_, take) => {
    const worker = await plane.startWorker();
    await serves('before');
    await take();
    const { code } = await eventually(() => worker.process.exit, { what: 'the worker to stop' });
    expect({ code, said: worker.process.stdout }).toMatchObject({
      code: 70,
      said: expect.stringContaining('failed STORE_REPLACED'),
    });
  });
});
