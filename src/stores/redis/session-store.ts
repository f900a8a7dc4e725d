import type { Actor } from '../../domain/identity/actor.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { laneOfScopedId, parseScopedId, type RunId, type SessionId, type ToolId } from '../../domain/identity/ids.ts';
import {
  DELEGATOR_ENDED,
  MAX_RUNS,
  type Identity,
  type InjectedGrant,
  type Session,
  type SessionEnding,
} from '../../domain/identity/session.ts';
import type { SessionStore } from '../../domain/ports/session-store.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { detailOfEnd, recordOfOpenedSession } from '../administrative-record.ts';
import { asList, asNumber, asText, wordOf } from './answers.ts';
import type { RedisContext } from './redis-context.ts';

const NO_RECORD = new Uint8Array(0);

export function createSessionStore(context: RedisContext): SessionStore {
  const laneOf = (session: SessionId): number => parseScopedId(session)?.lane ?? -1;
  const isHere = (session: SessionId): boolean => laneOf(session) >= 0 && laneOf(session) < context.lanes;

  async function change(session: SessionId, what: string, run = '', detail: Uint8Array = NO_RECORD): Promise<string> {
    if (!isHere(session)) return 'UNKNOWN';
    const keys = context.lane(laneOf(session));
    const answer = await context.fcall('change_session', {
      keys: { meta: keys.meta, live: keys.live, audit: keys.audit },
      args: {
        incarnation: context.incarnation,
        lane: keys.prefix,
        session,
        change: what,
        run,
        detail,
        maxRuns: MAX_RUNS,
      },
    });
    return wordOf(answer);
  }

  async function readSession(session: SessionId): Promise<Session | undefined> {
    if (!isHere(session)) return undefined;
    const list = asList(await context.command('HGETALL', context.lane(laneOf(session)).session(session))).map(asText);
    const fields = new Map<string, string>();
    for (let at = 0; at + 1 < list.length; at += 2) fields.set(list[at]!, list[at + 1]!);
    return fields.size === 0 ? undefined : toSession(session, fields);
  }

  return {
    async openSession(request) {
      const keys = context.lane(laneOf(request.id));
      const answer = await context.fcall('open_session', {
        keys: { meta: keys.meta, sessions: keys.sessions, audit: keys.audit },
        args: {
          incarnation: context.incarnation,
          lane: keys.prefix,
          session: request.id,
          run: request.run,
          identity: canonicalJson(request.identity),
          tokenDigest: request.tokenDigest,
          lifetimeMs: request.lifetimeMs,
          idleMs: request.idleMs,
          delegatedBy: request.delegatedBy ?? '',
          detail: recordOfOpenedSession(request).detail,
          openedBy: request.actor === undefined ? '' : canonicalJson({ ...request.actor }),
        },
      });
      if (wordOf(answer) === 'ENDED') throw planeError('SESSION_INVALID', { problem: DELEGATOR_ENDED });
      return { expiresAt: asNumber(asList(answer)[1]) };
    },
    touchSession: async (session) => ((await change(session, 'touch')) === 'CHANGED' ? 'touched' : 'ended'),
    async revokeSession(request) {
      const answer = await change(request.session, 'revoke', '', detailOfEnd(request));
      return answer === 'CHANGED' ? 'revoked' : 'unknown';
    },
    async openRun({ session, run }) {
      const answer = await change(session, 'open-run', run);
      if (answer === 'FULL') return 'full';
      return answer === 'CHANGED' ? 'opened' : 'ended';
    },
    async endRun(request) {
      const { session, run, actor, endedByLoop } = request;
      if (endedByLoop !== undefined) {
        await change(session, 'end-looped-run', run, Buffer.from(String(Math.ceil(endedByLoop.restMs))));
        return;
      }
      await change(session, 'end-run', run, actor === undefined ? NO_RECORD : detailOfEnd(request));
    },
    async proveSession({ session, tokenDigest }) {
      if (!isHere(session)) return 'unknown';
      const keys = context.lane(laneOf(session));
      const answer = await context.fcall('prove_session', {
        keys: { meta: keys.meta },
        args: { incarnation: context.incarnation, lane: keys.prefix, session, tokenDigest },
      });
      return wordOf(answer) === 'LIVE' ? undefined : (asText(asList(answer)[1]) as SessionEnding);
    },
    async injectTools({ tools, limit, ...owned }) {
      const keys = context.lane(laneOfScopedId(owned.callId));
      const answer = await context.fcall('inject_tools', {
        keys: { meta: keys.meta },
        args: {
          incarnation: context.incarnation,
          lane: keys.prefix,
          worker: owned.workerId,
          callId: owned.callId,
          entry: owned.entryId,
          fence: owned.fence,
          limit,
        },
        each: tools.map((tool) => ({ tool })),
      });
      if (wordOf(answer) === 'FENCED') return { kind: 'fenced' };
      return {
        kind: 'injected',
        tools: asList(answer)
          .slice(1)
          .map((tool) => asText(tool) as ToolId),
      };
    },
    readSession,
    async listSessions(limit) {
      const sessions: Session[] = [];
      for (let lane = 0; lane < context.lanes && sessions.length < limit; lane += 1) {
        const left = String(limit - sessions.length - 1);
        const ids = asList(await context.command('ZREVRANGE', context.lane(lane).sessions, '0', left)).map(asText);
        const found = await Promise.all(ids.map((id) => readSession(id as SessionId)));
        sessions.push(...found.filter((session) => session !== undefined));
      }
      return sessions;
    },
  };
}

/** `facts` has the lines of `shared/session.lua`, with the identity last. A revoked session has a line `revoked` before them. */
function toSession(id: SessionId, fields: ReadonlyMap<string, string>): Session {
  const runs = [...fields.keys()].filter((name) => name.startsWith('run:')).map((name) => name.slice(4) as RunId);
  const lines = fields.get('facts')!.split('\n');
  const [expiresAt, idleMs, openedAt, identity] = lines.slice(-4);
  const openedBy = fields.get('openedBy');
  const injected = runs.flatMap((run) => toGrants(run, fields.get(`injected:${run}`) ?? ''));
  return {
    id,
    identity: JSON.parse(identity!) as Identity,
    openedAt: Number(openedAt),
    ...(openedBy === undefined ? {} : { openedBy: JSON.parse(openedBy) as Actor }),
    expiresAt: Number(expiresAt),
    idleMs: Number(idleMs),
    lastSeenAt: Number(fields.get('seen')),
    revoked: lines[0] === 'revoked',
    runs,
    ...(injected.length === 0 ? {} : { injected }),
  };
}

/** Each line has the tool and the tool that offered it. */
function toGrants(run: RunId, text: string): InjectedGrant[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [tool, by] = line.split(' ') as [ToolId, ToolId];
    return { run, tool, by };
  });
}
