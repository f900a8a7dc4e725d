import { planeError } from '../domain/errors/errors.ts';
import type { CallId } from '../domain/identity/ids.ts';
import type { EffectOrigin } from '../domain/platform/platform-effect.ts';
import type { CallRedirects } from '../domain/ports/outbound-store.ts';
import type { SessionReader } from '../domain/ports/session-store.ts';
import type { KnownSession } from './known-sessions.ts';

/** The channel that the outcome of a call is sent to. Empty: the session's own channel. Other channels need the operator's permission. */
export interface RedirectTarget {
  readonly platform?: string;
  readonly channel?: string;
}

export interface Redirects {
  /** Throws REDIRECT_NOWHERE if the target has no platform or no channel. */
  check(session: KnownSession, target: RedirectTarget): Promise<void>;
  /** Sends the outcome `afterMs` from now or later, unless the redirect is dropped before. */
  redirect(
    session: KnownSession,
    callId: CallId,
    target: RedirectTarget,
    afterMs: number,
  ): Promise<'redirected' | 'sent'>;
  drop(callId: CallId): Promise<void>;
}

const DELIVER_WITHIN_MS = 24 * 60 * 60 * 1000;

export function createRedirects(store: CallRedirects & SessionReader): Redirects {
  async function resolve(session: KnownSession, target: RedirectTarget) {
    const origin = await originOf(session, store);
    const platform = target.platform ?? origin.homePlatform;
    const channel = target.channel ?? (platform === origin.homePlatform ? origin.homeChannel : undefined);
    if (platform !== undefined && channel !== undefined) return { platform, channel, origin };
    throw planeError('REDIRECT_NOWHERE', { problem: platform === undefined ? 'platform' : 'channel' });
  }

  return {
    async check(session, target) {
      await resolve(session, target);
    },
    async redirect(session, callId, target, afterMs) {
      const answer = await store.redirectCall({
        ...(await resolve(session, target)),
        callId,
        session: { id: session.id, tokenDigest: session.proof.tokenDigest },
        afterMs,
        deliverWithinMs: DELIVER_WITHIN_MS,
      });
      if (answer === 'unknown') throw planeError('CALL_UNKNOWN', { callId });
      return answer;
    },
    async drop(callId) {
      await store.dropRedirect(callId);
    },
  };
}

/** The origin comes from the stored session record. Claims of the caller are ignored. */
async function originOf({ id }: KnownSession, store: SessionReader): Promise<EffectOrigin> {
  const found = await store.readSession(id);
  if (found === undefined) throw planeError('SESSION_INVALID', { problem: 'there is no such session' });
  const { tenant, subject, agent, space, platform, channel } = found.identity;
  return {
    tenant,
    subject,
    agent,
    session: id,
    ...(space === undefined ? {} : { space }),
    ...(platform === undefined ? {} : { homePlatform: platform }),
    ...(channel === undefined ? {} : { homeChannel: channel }),
  };
}
