import { describe, expect, it } from 'vitest';
import type { CallAnswer } from '../client/call-answer.ts';
import { planeError, errorOutcome } from '../domain/errors/errors.ts';
import type { CallId, RunId, SessionId } from '../domain/identity/ids.ts';
import { runEndedByLoop } from '../domain/identity/session-ended.ts';
import type { SessionHandle } from '../domain/identity/session.ts';
import { createAgentSessions, type SessionClient } from './agent-sessions.ts';
import type { Authenticated } from './authenticated.ts';

const IDENTITY = { tenant: 'default', subject: 'local', agent: 'assistant' };

const agent = (more: Partial<Authenticated> = {}): Authenticated => ({
  via: 'token',
  id: 'token1',
  name: 'test',
  scopes: new Set(['agent']),
  identity: IDENTITY,
  expiresAt: Date.now() + 60 * 60 * 1000,
  ...more,
});

/** A client that records the sessions and runs that are opened, revoked and ended. The sessions in `ended` count as ended. */
function recordingClient() {
  const opened: object[] = [];
  const revoked: string[] = [];
  const ended = new Set<string>();
  const endedRuns: string[] = [];
  const openedRuns: (boolean | undefined)[] = [];
  let runs = 0;
  const client: SessionClient = {
    async openSession(options) {
      opened.push(options);
      const id = `session${opened.length}` as SessionId;
      return { id, token: 'secret', run: `first of ${id}` as RunId, expiresAt: 0 };
    },
    async openRun(session, options) {
      openedRuns.push(options?.unattended);
      if (ended.has(session.id)) throw planeError('SESSION_INVALID', { problem: 'it has ended' });
      runs += 1;
      return { ...session, run: `run${runs}` as RunId };
    },
    endRun: async (session, run) => void endedRuns.push(`${session} ${run}`),
    touchSession: async (id) => (ended.has(id) ? 'ended' : 'touched'),
    async revokeSession(id) {
      revoked.push(id);
      return 'revoked';
    },
  };
  return { client, opened, revoked, ended, endedRuns, openedRuns };
}

const ANSWERED: CallAnswer = {
  kind: 'settled',
  callId: 'call' as CallId,
  outcome: { kind: 'ok', executed: 'yes', retryable: false, content: [] },
};

const runOf = async (handle: Promise<SessionHandle>): Promise<string> => (await handle).run;

describe('agent sessions', () => {
  it('open one session for a bearer, however many ask at once, with nothing but its own identity', async () => {
    const { client, opened } = recordingClient();
    const sessions = createAgentSessions(client);
    const all = await Promise.all(Array.from({ length: 20 }, () => sessions.handleOf(agent())));
    expect(new Set(all.map(({ id, run }) => `${id} ${run}`))).toEqual(new Set(['session1 first of session1']));
    expect(opened).toMatchObject([IDENTITY]);
    expect((await sessions.handleOf(agent({ id: 'token2' }))).id).toBe('session2');
  });

  it('open unattended sessions for an unattended token, and an unattended run for a name that says so', async () => {
    const { client, opened, openedRuns } = recordingClient();
    const sessions = createAgentSessions(client);
    await sessions.handleOf(agent({ unattended: true }));
    expect(opened).toMatchObject([{ ...IDENTITY, unattended: true }]);
    const plain = agent({ id: 'token2' });
    // Not the first run of the session, because that run is not marked as unattended.
    expect(await runOf(sessions.handleOf(plain, 'unattended-nightly'))).toBe('run1');
    expect(await runOf(sessions.handleOf(plain, 'by day'))).toBe('first of session2');
    expect(await runOf(sessions.handleOf(plain, 'unattended-nightly'))).toBe('run1');
    expect(openedRuns).toEqual([true]);
    expect(opened[1]).not.toHaveProperty('unattended');
    const id = `unattended-${'a'.repeat(22)}`;
    const bearer = agent({ via: 'session', session: { id: 's' as SessionId, token: 't' } });
    expect(await runOf(sessions.handleOf({ ...bearer, id: 's' }, id))).toBe(id);
  });

  it('revoke a session whose token was revoked while it was opened, and do not give it out', async () => {
    const { client, opened, revoked } = recordingClient();
    const noted: string[] = [];
    const tokens = {
      now: async () => Date.now(),
      noteTokenSession: async ({ session }: { session: SessionId }) => {
        noted.push(session);
        return 'ended' as const;
      },
    };
    const sessions = createAgentSessions(client, { tokens });
    await expect(sessions.handleOf(agent())).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    expect([opened.length, noted, revoked]).toEqual([1, ['session1'], ['session1']]);
  });

  it('give each name a run of its own, also when two ask for it at once', async () => {
    const { client } = recordingClient();
    const sessions = createAgentSessions(client);
    await sessions.handleOf(agent());
    const [one, same, other] = await Promise.all([
      runOf(sessions.handleOf(agent(), 'a')),
      runOf(sessions.handleOf(agent(), 'a')),
      runOf(sessions.handleOf(agent(), 'b')),
    ]);
    expect(same).toBe(one);
    expect(new Set([one, other, await runOf(sessions.handleOf(agent()))]).size).toBe(3);
  });

  it('replace the unnamed run after it was idle, and keep named ones', async () => {
    const { client } = recordingClient();
    let now = 0;
    const sessions = createAgentSessions(client, { runIdleMs: 1000, now: () => now });
    const before = [await runOf(sessions.handleOf(agent())), await runOf(sessions.handleOf(agent(), 'a'))];
    now = 1001;
    const after = [await runOf(sessions.handleOf(agent())), await runOf(sessions.handleOf(agent(), 'a'))];
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
  });

  it('end unused runs, but none with calls under way', async () => {
    const { client, endedRuns } = recordingClient();
    let now = 0;
    const busy = new Set<string>();
    const hasCalls = async (_: SessionId, run: RunId | undefined): Promise<boolean> => busy.has(run ?? '');
    const settings = { runIdleMs: 1000, now: () => now, hasCalls };
    const sessions = createAgentSessions(client, settings);
    await sessions.handleOf(agent());
    busy.add(await runOf(sessions.handleOf(agent(), 'busy')));
    const left = await runOf(sessions.handleOf(agent(), 'left'));
    await sessions.endRun('token1', 'busy');
    await sessions.endRun('token1', 'left');
    await sessions.endRun('token1', 'left');
    await sessions.endRun('nobody', 'left');
    expect(endedRuns).toEqual([`session1 ${left}`]);
    // The unnamed run was idle for too long, so it ends. The loop below then opens one run more than the gateway keeps.
    now = 1001;
    await sessions.handleOf(agent());
    expect(endedRuns.slice(1)).toEqual(['session1 first of session1']);
    for (let number = 0; number < 64; number += 1) await sessions.handleOf(agent(), `name ${number}`);
    expect(endedRuns).toHaveLength(3);
  });

  it('never give a run out again that was ended', async () => {
    const { client, endedRuns } = recordingClient();
    const sessions = createAgentSessions(client, { hasCalls: async () => false });
    const first = await runOf(sessions.handleOf(agent(), 'a'));
    await sessions.endRun('token1', 'a');
    expect(endedRuns).toEqual([`session1 ${first}`]);
    expect(await runOf(sessions.handleOf(agent(), 'a'))).not.toBe(first);
    expect(await runOf(sessions.handleOf(agent()))).not.toBe(first);
  });

  it('replace a run that a loop ended only when its rest is over, after any number of refusals', async () => {
    const { client } = recordingClient();
    const sessions = createAgentSessions(client);
    const first = await runOf(sessions.handleOf(agent()));
    let restMs = 600_000;
    const made: string[] = [];
    const call = async ({ run }: SessionHandle): Promise<CallAnswer> => {
      made.push(run);
      return run === first ? { kind: 'refused', outcome: runEndedByLoop(restMs) } : ANSWERED;
    };
    for (; restMs > 0; restMs -= 100_000) {
      expect(await sessions.callIn(agent(), undefined, call)).toMatchObject({ kind: 'refused' });
    }
    expect(new Set(made)).toEqual(new Set([first]));
    const [one, other] = await Promise.all([1, 2].map(() => sessions.callIn(agent(), undefined, call)));
    expect([one, other]).toEqual([ANSWERED, ANSWERED]);
    // Both calls are first made in the run that has ended. Then both are made again, in the same new run.
    expect(made.slice(6)).toEqual([first, first, 'run1', 'run1']);
    expect(await runOf(sessions.handleOf(agent()))).toBe('run1');
  });

  it('replace a run that is gone at once, and no run that the bearer of a session named by its id', async () => {
    const { client } = recordingClient();
    const sessions = createAgentSessions(client);
    const gone: CallAnswer = { kind: 'refused', outcome: errorOutcome('RUN_UNKNOWN', {}) };
    const first = await runOf(sessions.handleOf(agent(), 'chat'));
    const call = async ({ run }: SessionHandle): Promise<CallAnswer> => (run === first ? gone : ANSWERED);
    expect(await sessions.callIn(agent(), 'chat', call)).toBe(ANSWERED);
    const bearer = agent({ via: 'session', id: 'bearer', session: { id: 'session9' as SessionId, token: 'secret' } });
    const own: string[] = [];
    const named = async ({ run }: SessionHandle): Promise<CallAnswer> => {
      own.push(run);
      return gone;
    };
    expect(await sessions.callIn(bearer, 'A'.repeat(22), named)).toBe(gone);
    expect(own).toEqual(['A'.repeat(22)]);
  });

  it('make a call that is refused for any other reason once', async () => {
    const { client } = recordingClient();
    const sessions = createAgentSessions(client);
    let count = 0;
    for (const outcome of [errorOutcome('SESSION_REVOKED', {}), errorOutcome('KEY_CONFLICT', { callId: 'c' })]) {
      const refused: CallAnswer = { kind: 'refused', outcome };
      expect(await sessions.callIn(agent(), undefined, async () => ((count += 1), refused))).toBe(refused);
    }
    expect(count).toBe(2);
  });

  it('open another session when the first has ended', async () => {
    const { client, ended } = recordingClient();
    let now = 0;
    const sessions = createAgentSessions(client, { now: () => now });
    await sessions.handleOf(agent());
    ended.add('session1');
    now = 2000;
    expect((await sessions.handleOf(agent())).id).toBe('session2');
  });

  it('leave a session alone when its client goes while calls are under way', async () => {
    const { client, revoked } = recordingClient();
    const busy = new Set<string>(['session1']);
    const sessions = createAgentSessions(client, { hasCalls: async (session) => busy.has(session) });
    await sessions.handleOf(agent());
    await sessions.leave('token1');
    expect(revoked).toEqual([]);
    expect((await sessions.handleOf(agent())).id).toBe('session2');
    await sessions.leave('token1');
    expect(revoked).toEqual(['session2']);
  });

  it('revoke what a revoked token had, and nothing at the end of the gateway', async () => {
    const { client, revoked } = recordingClient();
    const sessions = createAgentSessions(client);
    await sessions.handleOf(agent());
    await sessions.handleOf(agent({ id: 'token2' }));
    await sessions.close('token1');
    await sessions.closeAll();
    expect(revoked).toEqual(['session1']);
  });

  it('stay in the session of its own bearer, take a run by its id, and never revoke it', async () => {
    const { client, opened, revoked, ended } = recordingClient();
    let now = 0;
    const sessions = createAgentSessions(client, { now: () => now });
    const bearer = agent({ via: 'session', id: 'own', session: { id: 'own' as SessionId, token: 'secret' } });
    expect(await sessions.handleOf(bearer)).toMatchObject({ id: 'own', token: 'secret', run: 'run1' });
    expect(await runOf(sessions.handleOf(bearer, 'AAAAAAAAAAAAAAAAAAAAAA'))).toBe('AAAAAAAAAAAAAAAAAAAAAA');
    await sessions.close('own');
    ended.add('own');
    now = 2000;
    await expect(sessions.handleOf(bearer)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
    expect({ opened, revoked }).toEqual({ opened: [], revoked: [] });
  });

  it('refuse who is no agent, and names that are none', async () => {
    const { client, opened } = recordingClient();
    const sessions = createAgentSessions(client);
    const { identity: _, ...nobody } = agent({ scopes: new Set(['admin']) });
    await expect(sessions.handleOf(nobody)).rejects.toMatchObject({ code: 'SCOPE_MISSING' });
    for (const name of ['', 'a\nb', 'x'.repeat(129)]) {
      await expect(sessions.handleOf(agent(), name)).rejects.toMatchObject({ code: 'PARAMETER_INVALID' });
    }
    expect(opened).toEqual([]);
  });

  it('try again after a store that failed', async () => {
    const { client } = recordingClient();
    let fails = true;
    const sessions = createAgentSessions({
      ...client,
      openSession: (options) =>
        fails ? Promise.reject(planeError('STORE_UNAVAILABLE', { problem: 'away' })) : client.openSession(options),
    });
    await expect(sessions.handleOf(agent())).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    fails = false;
    expect((await sessions.handleOf(agent())).id).toBe('session1');
  });
});
