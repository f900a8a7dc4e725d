import { describe, expect, it } from 'vitest';
import { unknownActor } from '../domain/identity/actor.ts';
import type { SessionId } from '../domain/identity/ids.ts';
import type { Identity, Session, SessionEnding } from '../domain/identity/session.ts';
import type { OpenSessionRequest } from '../domain/ports/session-store.ts';
import { partialStore } from '../../test/support/sample-call.ts';
import { sha256 } from '../base/sha256.ts';
import { newRunId } from '../domain/identity/new-id.ts';
import { openSession, type OpenSessionOptions } from './open-session.ts';

/** Sessions as a store keeps them: the identity and the digest of the token. */
function stage() {
  const opened = new Map<SessionId, OpenSessionRequest>();
  const endings = new Map<SessionId, SessionEnding>();
  const store = partialStore({
    lanes: 1,
    openSession: async (request) => {
      opened.set(request.id, request);
      return { expiresAt: 1 };
    },
    proveSession: async ({ session, tokenDigest }) =>
      opened.get(session)?.tokenDigest === tokenDigest ? endings.get(session) : 'unknown',
    readSession: async (id) => ({ identity: opened.get(id)!.identity }) as Session,
  });
  return {
    opened,
    end: (session: SessionId, ending: SessionEnding) => endings.set(session, ending),
    open: (agent: string, more: Partial<OpenSessionOptions> = {}) =>
      openSession(store, { subject: 'alice', agent, ...more }, unknownActor('client')),
    identityOf: (id: SessionId): Identity => opened.get(id)!.identity,
  };
}

const refused = (problem: string) =>
  expect.objectContaining({ code: 'SESSION_INVALID', facts: { problem } }) as unknown;

describe('openSession', () => {
  it('stores the digest of the token and never the token', async () => {
    const { open, opened } = stage();
    const { id, token } = await open('main');
    expect(opened.get(id)!.tokenDigest).toBe(sha256(token));
    expect(JSON.stringify([...opened.values()])).not.toContain(token);
  });

  it.each([
    ['unatended', 'there is no option "unatended"; did you mean "unattended"?'],
    [
      'delegators',
      'there is no option "delegators"; known: tenant, subject, agent, channel, space, platform, delegatedBy, unattended, lifetimeMs, idleMs',
    ],
  ])('refuses an option that it does not know: %s', async (name, problem) => {
    const { open, opened } = stage();
    await expect(open('main', { [name]: ['boss'] })).rejects.toStrictEqual(refused(problem));
    expect(opened.size).toBe(0);
  });

  it('a delegated session names all it acts for, the nearest first', async () => {
    const { open, identityOf } = stage();
    const boss = await open('boss');
    const main = await open('main', { delegatedBy: boss });
    const step = await open('step', { delegatedBy: main });
    expect(identityOf(main.id)).toMatchObject({ agent: 'main', delegators: ['boss'] });
    expect(identityOf(step.id)).toMatchObject({ agent: 'step', delegators: ['main', 'boss'] });
  });

  it('an unattended session has unattended delegates, and so has an unattended run', async () => {
    const { open, identityOf } = stage();
    const night = await open('night', { unattended: true });
    expect(identityOf(night.id)).toMatchObject({ unattended: true });
    const day = await open('day', { unattended: false });
    expect(identityOf(day.id)).not.toHaveProperty('unattended');
    const asked = { delegatedBy: night, unattended: false };
    expect(identityOf((await open('step', asked)).id)).toMatchObject({ unattended: true });
    const run = newRunId({ unattended: true });
    expect(identityOf((await open('step', { delegatedBy: { ...day, run } })).id)).toMatchObject({ unattended: true });
    expect(identityOf((await open('step', { delegatedBy: day })).id)).not.toHaveProperty('unattended');
  });

  it('what is neither true nor false is not taken for attended', async () => {
    const { open, opened } = stage();
    for (const unattended of ['true', 1, null]) {
      const given = { unattended } as unknown as Partial<OpenSessionOptions>;
      await expect(open('main', given)).rejects.toEqual(refused('unattended must be true or false'));
    }
    expect(opened.size).toBe(0);
  });

  it.each<SessionEnding>(['expired', 'revoked', 'unknown'])(
    'a session that is %s delegates nothing',
    async (ending) => {
      const { open, end, opened } = stage();
      const boss = await open('boss');
      end(boss.id, ending);
      await expect(open('main', { delegatedBy: boss })).rejects.toEqual(
        refused('the session that delegates does not live'),
      );
      expect(opened.size).toBe(1);
    },
  );

  it('a delegation with the token of another session is refused', async () => {
    const { open } = stage();
    const [boss, other] = [await open('boss'), await open('other')];
    await expect(open('main', { delegatedBy: { id: boss.id, token: other.token } })).rejects.toEqual(
      refused('the session that delegates does not live'),
    );
  });

  it.each([{ subject: 'operator' }, { tenant: 'acme' }])(
    'a delegate does not get the permissions of %j',
    async (other) => {
      const { open } = stage();
      const boss = await open('boss');
      await expect(open('main', { delegatedBy: boss, ...other })).rejects.toEqual(
        refused('a delegate acts for the subject of the session that delegates'),
      );
    },
  );

  it('agents delegate at most eight times in a row', async () => {
    const { open, identityOf } = stage();
    let last = await open('agent-0');
    for (let depth = 1; depth <= 8; depth += 1) last = await open(`agent-${depth}`, { delegatedBy: last });
    expect(identityOf(last.id).delegators).toHaveLength(8);
    await expect(open('agent-9', { delegatedBy: last })).rejects.toEqual(
      refused('agents may delegate at most 8 times in a row'),
    );
  });
});
