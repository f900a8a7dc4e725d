import { PlaneError } from '../../domain/errors/errors.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import {
  MAX_OWED_PER_SUBJECT,
  type HoldOwedAnswer,
  type HoldOwedRequest,
  type OwedStore,
  type ReleaseOwedRequest,
} from '../../domain/ports/owed-store.ts';
import { checkBeat, checkHold, checkRelease, placeOf, type OwedPlace } from '../check-owed.ts';
import { answerOf, asList, asNumber, asText, unexpected, wordOf } from './answers.ts';
import { batchPerLane, type Common } from './batch-per-lane.ts';
import { common } from './change-calls.ts';
import type { RedisContext } from './redis-context.ts';

interface Placed<Request> extends Common {
  readonly request: Request;
  readonly place: OwedPlace;
}

/** Requests that arrive together are sent in one function call. */
export function createOwedStore(context: RedisContext): OwedStore {
  const holds = batchPerLane<Placed<HoldOwedRequest>, HoldOwedAnswer>(
    (lane, requests) => hold(context, lane, requests),
    () => 0,
  );
  const releases = batchPerLane<Placed<ReleaseOwedRequest>, 'released' | 'gone'>(
    (lane, requests) => release(context, lane, requests),
    () => 0,
  );
  return {
    async holdOwed(request) {
      const place = checkHold(request, context.lanes);
      return holds.add(place.lane, { request, place });
    },
    async releaseOwed(request) {
      const place = checkRelease(request, context.lanes);
      return releases.add(place.lane, { request, place });
    },
    async beatOwed(request) {
      checkBeat(request, context.lanes);
      const { lane, holder } = request;
      await context.fcall('beat_owed', {
        keys: { meta: context.lane(lane).meta },
        args: { ...common(context, lane), holder },
      });
    },
  };
}

async function hold(
  context: RedisContext,
  lane: number,
  batch: readonly Placed<HoldOwedRequest>[],
): Promise<HoldOwedAnswer[]> {
  try {
    return await holdTogether(context, lane, batch);
  } catch (error) {
    // The server is at its memory limit or cannot write, so nothing is held.
    if (error instanceof PlaneError && error.code === 'STORE_FULL')
      return batch.map(() => ({ kind: 'full', of: 'store' }));
    throw error;
  }
}

async function holdTogether(
  context: RedisContext,
  lane: number,
  batch: readonly Placed<HoldOwedRequest>[],
): Promise<HoldOwedAnswer[]> {
  const answers = await context.fcall('hold_owed', {
    keys: { meta: context.lane(lane).meta },
    args: { ...common(context, lane), max: MAX_OWED_PER_SUBJECT },
    each: batch.map(({ request, place: { scope, name } }) => ({
      scope,
      name,
      digest: request.digest,
      holder: request.holder,
      leaseMs: Math.ceil(request.leaseMs),
      lifetimeMs: Math.ceil(request.lifetimeMs),
      of: request.of === undefined ? '' : namedIn(request.of, scope, context.lanes),
      fresh: request.fresh === true,
      since: `${request.waitingSince ?? ''} ${Math.floor(request.waitedMs ?? 0)}`,
    })),
  });
  return batch.map(({ place }, index) => toHold(answerOf(answers, index), place));
}

/**
 * Returns the name of the entry, or `=` for a call of another subject, which has no entry here. An empty name would mean that any call may
 * be taken. No entry is named `=`, because digests begin with it.
 */
function namedIn(callId: CallId, scope: string, lanes: number): string {
  const place = placeOf(callId, lanes);
  return place.scope === scope ? place.name : '=';
}

function toHold(answer: unknown, { lane, scope }: OwedPlace): HoldOwedAnswer {
  const [, ...fields] = asList(answer);
  switch (wordOf(answer)) {
    case 'MADE':
      return { kind: 'made' };
    case 'TAKEN':
      return {
        kind: 'taken',
        callId: `${lane}.${scope}.${asText(fields[0])}` as CallId,
        madeAt: asNumber(fields[1]),
      };
    case 'WAIT':
      return { kind: 'wait', since: asNumber(fields[0]) };
    case 'NONE':
      return { kind: 'none' };
    case 'FULL':
      return { kind: 'full', of: 'subject' };
  }
  throw unexpected(answer);
}

function wordsOf(request: ReleaseOwedRequest): Readonly<Record<'to' | 'owedAfterMs' | 'lifetimeMs', string | number>> {
  if (request.to === 'gone') return { to: 'gone', owedAfterMs: 0, lifetimeMs: 0 };
  const lifetimeMs = Math.ceil(request.lifetimeMs);
  if (request.to === 'lost') return { to: 'lost', owedAfterMs: 0, lifetimeMs };
  const { owedAfterMs = 0 } = request;
  return { to: 'owed-for', owedAfterMs: Math.ceil(owedAfterMs), lifetimeMs };
}

async function release(
  context: RedisContext,
  lane: number,
  batch: readonly Placed<ReleaseOwedRequest>[],
): Promise<('released' | 'gone')[]> {
  const answers = await context.fcall('release_owed', {
    keys: { meta: context.lane(lane).meta },
    args: common(context, lane),
    each: batch.map(({ request, place: { scope, name } }) => ({
      scope,
      name,
      attempt: placeOf(request.attempt, context.lanes).name,
      ...wordsOf(request),
    })),
  });
  return batch.map((_, index) => (wordOf(answerOf(answers, index)) === 'RELEASED' ? 'released' : 'gone'));
}
