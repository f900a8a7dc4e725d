import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome, SessionHandle } from '../../src/exports/client.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import {
  callFor,
  endingsOf,
  holdRun,
  marksOf,
  releaseRuns,
  runOnce,
  untilLeased,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

interface Queued {
  readonly subject: string;
  readonly tool: string;
  readonly code: string | undefined;
}

/** Calls that are queued while no worker runs. The name of the subject says what is withdrawn before a worker starts. */
const QUEUED: readonly Queued[] = [
  { subject: 'untouched', tool: 'scenario.write', code: undefined },
  { subject: 'revoked', tool: 'scenario.write', code: 'SESSION_ENDED' },
  { subject: 'revoked', tool: 'scenario.read', code: 'SESSION_ENDED' },
  { subject: 'run-ended', tool: 'scenario.write', code: 'SESSION_ENDED' },
  { subject: 'run-ended', tool: 'scenario.read', code: 'SESSION_ENDED' },
  { subject: 'expired', tool: 'scenario.read', code: 'SESSION_ENDED' },
  { subject: 'denied', tool: 'scenario.write', code: 'PERMISSION_DENIED' },
  { subject: 'denied', tool: 'scenario.read', code: 'PERMISSION_DENIED' },
  { subject: 'untouched', tool: 'scenario.stubbornRead', code: 'PAUSED' },
  { subject: 'agent-paused', tool: 'scenario.write', code: 'PAUSED' },
];

const CHANGED_POLICY: Policy = {
  ...OPEN_POLICY,
  permissions: { '*': { allow: ['*'], deny: ['denied'] } },
  paused: { agents: ['agent-paused'], tools: ['scenario.stubbornRead'] },
};

describe.each(BACKENDS)('sessions that were delegated on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
  });
  afterAll(() => plane.stop());

  it('end with the one that delegated: what they have queued never runs, and they see and open nothing more', async () => {
    const worker = await plane.startWorker();
    const open = (agent: string, delegatedBy?: SessionHandle) =>
      plane.client.openSession({ subject: 'alice', agent, ...(delegatedBy === undefined ? {} : { delegatedBy }) });
    const boss = await open('boss');
    const helper = await open('helper', boss);
    const step = await open('step', helper);
    const peer = await open('boss');
    const before = await callFor(plane, step, 'scenario.write', runOnce(plane, 'before'));
    expect(before.kind).toBe('ok');
    await worker.process.stop();

    const queued = [helper, step, peer].map((session, index) =>
      callFor(plane, session, 'scenario.write', runOnce(plane, `queued-${index}`)),
    );
    await eventually(async () => (await plane.store.listCalls({ limit: 100 })).length === 3);
    await plane.client.revokeSession(boss.id);
    await plane.startWorker();
    expect((await Promise.all(queued)).map(({ error }) => error?.code)).toEqual([
      'SESSION_ENDED',
      'SESSION_ENDED',
      undefined,
    ]);
    expect(marksOf(plane, 'S').map(({ label }) => label)).toEqual(['before', 'queued-2']);
    for (const session of [helper, step]) {
      expect((await callFor(plane, session, 'scenario.write', runOnce(plane, 'after'))).kind).toBe('unauthenticated');
      await expect(plane.client.toolkit(session)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
      await expect(open('more', session)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    }
  });
});

describe.each(BACKENDS)('calls queued while no worker runs on %s', (backend) => {
  let plane: StagedPlane;
  let outcomes: Outcome[];
  beforeAll(async () => {
    plane = await stagePlane(backend);
    const publisher = await plane.startWorker();
    await publisher.process.stop();
    const sessions = new Map<string, SessionHandle>();
    for (const { subject } of QUEUED) {
      const lifetimeMs = subject === 'expired' ? 2000 : 60_000;
      const agent = subject === 'agent-paused' ? 'agent-paused' : 'main';
      if (!sessions.has(subject)) sessions.set(subject, await plane.client.openSession({ subject, agent, lifetimeMs }));
    }
    const calling = QUEUED.map(({ subject, tool }) =>
      callFor(plane, sessions.get(subject)!, tool, runOnce(plane, `${subject}:${tool}`)),
    );
    await eventually(async () => (await plane.store.listCalls({ limit: 100 })).length === QUEUED.length);
    await plane.client.revokeSession(sessions.get('revoked')!.id);
    await plane.store.endRun({ session: sessions.get('run-ended')!.id, run: sessions.get('run-ended')!.run });
    await plane.setPolicy(CHANGED_POLICY);
    await eventually(async () => (await plane.store.now()) > sessions.get('expired')!.expiresAt);
    await plane.startWorker();
    outcomes = await Promise.all(calling);
  });
  afterAll(() => plane.stop());

  it.each(QUEUED.map((queued, index) => ({ ...queued, index })))(
    'of $subject to $tool end with $code when a worker comes',
    ({ index, subject, tool, code }) => {
      const outcome = outcomes[index]!;
      expect(outcome.error?.code).toBe(code);
      expect(outcome.kind).toBe(code === undefined ? 'ok' : 'denied');
      expect(outcome.executed).toBe(code === undefined ? 'yes' : 'no');
      expect(marksOf(plane, 'S', `${subject}:${tool}`)).toHaveLength(code === undefined ? 1 : 0);
    },
  );

  it('are all in the audit with their code', async () => {
    const codes = (await endingsOf(plane)).map(({ code }) => code ?? 'none').toSorted();
    expect(codes).toStrictEqual(QUEUED.map(({ code }) => code ?? 'none').toSorted());
  });

  it.runIf(backend === 'redis')('were reached without pub/sub: no client subscribes', async () => {
    expect(await plane.redis!.cli('PUBSUB', 'CHANNELS')).toBe('');
    expect(await plane.redis!.cli('PUBSUB', 'NUMPAT')).toBe('0');
    const stats = await plane.redis!.cli('INFO', 'commandstats');
    expect(stats).not.toMatch(/cmdstat_(publish|subscribe|psubscribe|ssubscribe)/);
  });
});

describe.each(BACKENDS)('rights taken away on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.startWorker();
  });
  afterEach(async () => {
    releaseRuns();
    await plane.setPolicy(OPEN_POLICY);
  });
  afterAll(() => plane.stop());

  const CHANGES: Record<string, { code: string; change: (session: SessionHandle) => Promise<unknown> }> = {
    'a policy that denies': {
      code: 'PERMISSION_DENIED',
      change: () => plane.setPolicy({ ...OPEN_POLICY, permissions: { '*': { allow: ['*'], deny: ['holder'] } } }),
    },
    'a policy that no longer allows': {
      code: 'PERMISSION_DENIED',
      change: () => plane.setPolicy({ ...OPEN_POLICY, permissions: { '*': { allow: ['somebody-else'] } } }),
    },
    'a pause of everything': {
      code: 'PAUSED',
      change: () => plane.setPolicy({ ...OPEN_POLICY, paused: { all: true } }),
    },
    'a revoked session': { code: 'SESSION_ENDED', change: (session) => plane.client.revokeSession(session.id) },
    'an ended run': {
      code: 'SESSION_ENDED',
      change: (session) => plane.store.endRun({ session: session.id, run: session.run }),
    },
  };

  it.each(Object.keys(CHANGES))('by %s reach calls that a worker already holds', async (name) => {
    const { code, change } = CHANGES[name]!;
    const session = await plane.openSession('holder');
    const first = holdRun(plane, `first-${name}`.replaceAll(' ', '-'));
    const running = callFor(plane, session, 'scenario.single', first.args);
    await untilMarks(plane, 'S', first.label);
    const label = `behind-${name}`.replaceAll(' ', '-');
    const waiting = [1, 2].map((n) => callFor(plane, session, 'scenario.single', runOnce(plane, `${label}-${n}`)));
    await untilLeased(plane, 3);
    await change(session);
    await untilStoreTime(plane, 300);
    first.release();
    expect((await running).kind).toBe('ok');
    for (const outcome of await Promise.all(waiting)) {
      expect(outcome).toMatchObject({ kind: 'denied', executed: 'no', error: { code } });
    }
    expect(marksOf(plane, 'S').filter((mark) => mark.label.startsWith(label))).toHaveLength(0);
    await plane.setPolicy(OPEN_POLICY);
    const again = await plane.openSession('holder');
    expect((await callFor(plane, again, 'scenario.single', runOnce(plane, 'resumed'))).kind).toBe('ok');
  });

  interface PolicyRow {
    readonly title: string;
    readonly policy: Partial<Policy>;
    /** `subject tool` → whether it may. */
    readonly may: Readonly<Record<string, boolean>>;
  }
  const ROWS: readonly PolicyRow[] = [
    { title: 'an empty policy closes everything', policy: { permissions: {} }, may: { 'alice scenario.read': false } },
    {
      title: 'neither all tools nor everybody opens a privileged tool',
      policy: { permissions: { '*': { allow: ['*', 'alice'] }, 'scenario.root': { allow: ['*'] } } },
      may: { 'alice scenario.root': false, 'alice scenario.write': true },
    },
    {
      title: 'a privileged tool is opened by its name, for those named',
      policy: { permissions: { '*': { allow: ['*'] }, 'scenario.root': { allow: ['operator'] } } },
      may: { 'operator scenario.root': true, 'alice scenario.root': false },
    },
    {
      title: 'deny beats allow, whichever entry is more specific',
      policy: {
        permissions: {
          '*': { allow: ['*'], deny: ['mallory'] },
          'scenario.read': { allow: ['mallory'] },
          'scenario.*': { deny: ['eve'] },
        },
      },
      may: {
        'mallory scenario.read': false,
        'eve scenario.read': false,
        'eve basic.odd': true,
        'alice scenario.read': true,
      },
    },
    {
      title: 'a role stands for its subjects, in allow and in deny',
      policy: {
        roles: { admins: ['operator', 'trent'], banned: ['trent'] },
        permissions: {
          'scenario.root': { allow: ['role:admins'] },
          'scenario.read': { allow: ['role:admins'], deny: ['role:banned'] },
        },
      },
      may: {
        'operator scenario.root': true,
        'trent scenario.root': true,
        'alice scenario.root': false,
        'trent scenario.read': false,
        'operator scenario.read': true,
      },
    },
    {
      title: 'a subject named like a role is not the role',
      policy: {
        roles: { admins: ['operator'] },
        permissions: { 'scenario.read': { allow: ['role:admins', 'admins'] } },
      },
      may: { 'role:admins scenario.read': false, 'admins scenario.read': true, 'operator scenario.read': true },
    },
  ];

  it.each(ROWS.map((row) => [row.title, row] as const))('%s', async (_, { policy, may }) => {
    await plane.setPolicy({ roles: {}, permissions: {}, paused: {}, ...policy });
    const seen: Record<string, boolean> = {};
    for (const row of Object.keys(may)) {
      const [subject, tool] = row.split(' ') as [string, string];
      const session = await plane.openSession(subject);
      const args = tool.startsWith('basic.') ? {} : runOnce(plane, 'row');
      const outcome = await callFor(plane, session, tool, args);
      seen[row] = outcome.error?.code !== 'PERMISSION_DENIED';
      expect(outcome.executed).toBe(seen[row] ? 'yes' : 'no');
    }
    expect(seen).toStrictEqual(may);
  });
});
