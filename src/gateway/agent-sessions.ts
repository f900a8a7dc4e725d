import type { CallAnswer } from '../client/call-answer.ts';
import type { Client } from '../client/client.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { RunId, SessionId } from '../domain/identity/ids.ts';
import { mayOpenNextRun } from '../domain/identity/session-ended.ts';
import type { SessionHandle } from '../domain/identity/session.ts';
import { isUnattendedRun } from '../domain/identity/unattended.ts';
import type { StoreTime } from '../domain/ports/store.ts';
import type { TokenSessions } from '../domain/ports/token-store.ts';
import type { Authenticated } from './authenticated.ts';
import { openForToken } from './open-for-token.ts';

/**
 * The sessions in which the bearers of agent tokens make their calls. A token is not a session, so the gateway opens a session for it. The
 * gateway keeps the session handle in memory only, and opens another session when the first has ended or the gateway was restarted. Calls
 * belong to the subject, so a result can be read from any session of that subject.
 */
export interface AgentSessions {
  /**
   * Returns the session of this bearer with its run of this name. Loops are detected within one run, so a client can keep its tasks apart
   * by naming runs. Without a name, the bearer has one run that is replaced after it was idle for a while. A run whose name begins with
   * `unattended-` is opened unattended. The bearer of a session may also name a run by the id it was given. Throws a PlaneError if the
   * bearer is not an agent or its session has ended.
   */
  handleOf(bearer: Authenticated, runName?: string): Promise<SessionHandle>;
  /**
   * Makes a call in the session and run that `handleOf` returns. If the call is refused because a run that this gateway chose is over, the
   * call is made once more in a new run. A run that was ended by hand is replaced at once. A run that loop detection ended is replaced only
   * after its rest time. The store counts the rest time from the end of the run; refused calls do not prolong it. A run that the bearer
   * named by its id is never replaced.
   */
  callIn(bearer: Authenticated, runName: string | undefined, call: CallInSession): Promise<CallAnswer>;
  /** Call this when no client will use the run of this name again. The run also ends in the store, unless calls of it are under way. */
  endRun(bearerId: string, runName: string): Promise<void>;
  /**
   * Call this when the only client of this bearer has gone. Its session is revoked, unless calls of it are under way: a client may come
   * back for a call that waits for a person. Such a session ends by its idle timeout.
   */
  leave(bearerId: string): Promise<void>;
  /** Revokes the session that this gateway opened for the bearer. Used when the bearer's token was revoked. */
  close(bearerId: string): Promise<void>;
  /** Forgets all sessions. They are not revoked, because calls that wait for a person must survive a restart of the gateway. */
  closeAll(): Promise<void>;
}

export type CallInSession = (session: SessionHandle) => Promise<CallAnswer>;

export type SessionClient = Pick<Client, 'openSession' | 'openRun' | 'endRun' | 'revokeSession' | 'touchSession'>;

export interface AgentSessionSettings {
  /** An unnamed run is replaced after this time without a call. */
  readonly runIdleMs?: number;
  readonly now?: () => number;
  /**
   * Records which token a session was opened for, so that the session ends with the token. Without it, revoking a token does not end its
   * sessions.
   */
  readonly tokens?: TokenSessions & StoreTime;
  /**
   * Whether calls of a session, or of one run, are under way. Ending the session or run would deny them. Without this function, only
   * `close` ends a session, and no run is ended.
   */
  readonly hasCalls?: (session: SessionId, run?: RunId) => Promise<boolean>;
}

interface Held {
  readonly session: Promise<SessionHandle>;
  /** True if this gateway opened the session, so that it may revoke the session together with the token. */
  readonly isOwn: boolean;
  touchedAt: number;
  readonly runs: Map<string, HeldRun>;
  /** The run that the session was opened with was already handed out. It may have ended since then, so it is not handed out again. */
  isFirstRunTaken: boolean;
}

interface HeldRun {
  readonly run: Promise<RunId>;
  usedAt: number;
}

const RUN_IDLE_MS = 10 * 60 * 1000;
const SESSION_IDLE_MS = 24 * 60 * 60 * 1000;
const MAX_SESSION_MS = 30 * 24 * 60 * 60 * 1000;
/**
 * A session in use is touched once per this time. So the gateway notices a revoked session after this time at the latest, and the session
 * does not become idle.
 */
const TOUCH_MS = 2000;
const MAX_BEARERS = 10_000;
const MAX_RUNS = 64;
const RUN_NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;
const RUN_ID = /^(?:unattended-)?[A-Za-z0-9_-]{22}$/;
/** The map key of the unnamed run. It cannot clash with a run name, because no run name is empty. */
const UNNAMED = '';

export function createAgentSessions(client: SessionClient, settings: AgentSessionSettings = {}): AgentSessions {
  const { runIdleMs = RUN_IDLE_MS, now = () => performance.now(), hasCalls = async () => true, tokens } = settings;
  const held = new Map<string, Held>();

  function hold(bearer: Authenticated): Held {
    const session = bearer.via === 'session' ? Promise.resolve(handleOfBearer(bearer)) : open(client, bearer, tokens);
    const made: Held = {
      session,
      isOwn: bearer.via !== 'session',
      touchedAt: now(),
      runs: new Map(),
      isFirstRunTaken: false,
    };
    held.set(bearer.id, made);
    if (held.size > MAX_BEARERS) held.delete(held.keys().next().value!);
    // Opening failed: the next request of this bearer tries again.
    session.catch(() => forget(bearer.id, made));
    return made;
  }

  function forget(id: string, which: Held): void {
    if (held.get(id) === which) held.delete(id);
  }

  async function findLive(bearer: Authenticated): Promise<Held> {
    const known = held.get(bearer.id);
    if (known === undefined) return hold(bearer);
    if (now() - known.touchedAt < TOUCH_MS) return known;
    known.touchedAt = now();
    const { id } = await known.session;
    if ((await client.touchSession(id)) === 'touched') return known;
    forget(bearer.id, known);
    if (!known.isOwn) throw planeError('SESSION_INVALID', { problem: 'it has ended' });
    return held.get(bearer.id) ?? hold(bearer);
  }

  /**
   * Ends a run in the store, unless calls of it are under way. A session may live for a month, and the store keeps each of its runs until
   * the run is ended.
   */
  async function release({ session }: Held, { run }: HeldRun): Promise<void> {
    const [{ id }, ended] = await Promise.all([session, run]);
    if (!(await hasCalls(id, ended))) await client.endRun(id, ended);
  }

  /**
   * Ends a run in the background, so that the current request does not wait for it. If that fails, the run is kept as long as its session.
   */
  function releaseQuietly(from: Held, run: HeldRun | undefined): void {
    if (run !== undefined) release(from, run).catch(() => undefined);
  }

  async function runOf(from: Held, name: string, bearer: Authenticated): Promise<RunId> {
    const { runs, session } = from;
    const known = runs.get(name);
    const isOver = name === UNNAMED && known !== undefined && now() - known.usedAt > runIdleMs;
    if (known !== undefined && !isOver) {
      known.usedAt = now();
      // Move the run to the end of the map, so that the least recently used run is first.
      runs.delete(name);
      runs.set(name, known);
      return known.run;
    }
    const handle = await session;
    const raced = runs.get(name);
    if (raced !== undefined && raced !== known) return raced.run;
    const unattended = isUnattendedRun(name);
    // The run that a session is opened with is not marked as unattended.
    const isFirst = bearer.via !== 'session' && !from.isFirstRunTaken && !unattended;
    if (!unattended) from.isFirstRunTaken = true;
    const run = isFirst
      ? Promise.resolve(handle.run)
      : client.openRun(handle, { unattended }).then((opened) => opened.run);
    runs.set(name, { run, usedAt: now() });
    if (isOver) releaseQuietly(from, known);
    if (runs.size > MAX_RUNS) {
      const [longestUnused, unused] = runs.entries().next().value!;
      runs.delete(longestUnused);
      releaseQuietly(from, unused);
    }
    run.catch(() => runs.delete(name));
    return run;
  }

  async function handleOf(bearer: Authenticated, runName?: string): Promise<SessionHandle> {
    if (runName !== undefined && !RUN_NAME.test(runName)) {
      throw planeError('PARAMETER_INVALID', {
        problems: ['the name of a run is text of 1 to 128 characters without control characters'],
      });
    }
    const live = await findLive(bearer);
    const session = await live.session;
    if (isRunId(bearer, runName)) return { ...session, run: runName as RunId };
    return { ...session, run: await runOf(live, runName ?? UNNAMED, bearer) };
  }

  /** Forgets a run that is over, so that the next `handleOf` returns another run. */
  async function dropRun({ runs }: Held, name: string, over: RunId): Promise<void> {
    const known = runs.get(name);
    const isOver = known !== undefined && (await known.run) === over;
    // A concurrent call may have replaced the run meanwhile.
    if (isOver && runs.get(name) === known) runs.delete(name);
  }

  return {
    handleOf,
    async callIn(bearer, runName, call) {
      const session = await handleOf(bearer, runName);
      const answer = await call(session);
      const isOver = answer.kind === 'refused' && mayOpenNextRun(answer.outcome);
      const live = held.get(bearer.id);
      if (!isOver || live === undefined || isRunId(bearer, runName)) return answer;
      await dropRun(live, runName ?? UNNAMED, session.run);
      return call(await handleOf(bearer, runName));
    },
    async endRun(bearerId, runName) {
      const live = held.get(bearerId);
      const run = live?.runs.get(runName);
      if (live === undefined || run === undefined) return;
      live.runs.delete(runName);
      await release(live, run);
    },
    async leave(bearerId) {
      const known = held.get(bearerId);
      held.delete(bearerId);
      const session = known?.isOwn === true ? await known.session.catch(() => undefined) : undefined;
      if (session !== undefined && !(await hasCalls(session.id))) await client.revokeSession(session.id);
    },
    async close(bearerId) {
      const known = held.get(bearerId);
      held.delete(bearerId);
      if (known?.isOwn !== true) return;
      const session = await known.session.catch(() => undefined);
      if (session !== undefined) await client.revokeSession(session.id);
    },
    async closeAll() {
      held.clear();
    },
  };
}

/** Whether this names a run by its id. Only the bearer of a session may do that, with the id it was given. */
function isRunId({ via }: Authenticated, runName: string | undefined): boolean {
  return via === 'session' && runName !== undefined && RUN_ID.test(runName);
}

function handleOfBearer({ session, expiresAt }: Authenticated): SessionHandle {
  if (session === undefined) throw planeError('SCOPE_MISSING', { needed: ['agent'] });
  // The runs of this session are opened when they are needed.
  return { ...session, run: '' as RunId, expiresAt };
}

/**
 * Opens a session for an agent's token. The function is `async` so that it rejects for a bearer that is not an agent, instead of throwing.
 */
async function open(
  client: SessionClient,
  bearer: Authenticated,
  tokens: AgentSessionSettings['tokens'],
): Promise<SessionHandle> {
  const { identity, scopes, expiresAt } = bearer;
  if (identity === undefined || !scopes.has('agent')) throw planeError('SCOPE_MISSING', { needed: ['agent'] });
  // The session ends when the token expires, by the clock of the store. After that, no question about a call of the session can be allowed.
  const leftMs = expiresAt - ((await tokens?.now()) ?? Date.now());
  const lifetimeMs = Math.max(1, Math.min(MAX_SESSION_MS, Math.ceil(leftMs)));
  const { delegators: _, ...rest } = identity;
  const idleMs = Math.min(SESSION_IDLE_MS, lifetimeMs);
  return openForToken(client, tokens, bearer, { ...rest, lifetimeMs, idleMs });
}
