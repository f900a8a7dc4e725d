import type { SessionEnding } from '../../domain/identity/session.ts';
import type {
  OwnedCall,
  RenewAnswer,
  RenewRequest,
  SettleAnswer,
  SettledAttempt,
  SettleRequest,
  StartAnswer,
  StartRequest,
} from '../../domain/ports/call-requests.ts';
import { attemptText } from '../../domain/call/history.ts';
import { answerOf, asList, asNumber, asText, unexpected, wordOf } from './answers.ts';
import type { NamedValues } from './function-library.ts';
import type { RedisContext } from './redis-context.ts';

const SETTLED: Record<string, SettleAnswer> = { SETTLED: 'settled', FENCED: 'fenced', ABSENT: 'absent' };
const RENEWED: Record<string, RenewAnswer> = { RENEWED: 'renewed', FENCED: 'fenced', CANCEL: 'cancel' };

/** All requests must be of one lane, one worker, one pool and one retention. */
export async function settleCalls(
  context: RedisContext,
  lane: number,
  requests: readonly SettleRequest[],
): Promise<SettleAnswer[]> {
  const keys = context.lane(lane);
  const answers = await context.fcall('settle_calls', {
    keys: { meta: keys.meta, live: keys.live, audit: keys.audit, calls: keys.calls },
    args: { ...leaseArguments(context, lane, requests), retentionMs: requests[0]!.retentionMs },
    each: requests.map(toSettlement),
    more: requests.flatMap(toMore),
  });
  return requests.map((_, index) => translate(SETTLED, answerOf(answers, index)));
}

function toSettlement({ callId, entryId, fence, outcome, audit }: SettleRequest): NamedValues {
  return { callId, entry: entryId, fence, outcome, detail: audit };
}

const NOTHING_SPECIAL = attemptText({ ending: 'ok' });

const NONE: readonly NamedValues[] = Object.freeze([]);

/**
 * Returns a row with what the store must know about a call in addition to its outcome, or no row. Most calls need none; as arguments of the
 * batch, these values would be sent for every call.
 */
function toMore({ releaseKey, attempt }: SettleRequest, index: number): readonly NamedValues[] {
  const result = attempt === undefined ? NOTHING_SPECIAL : attemptText(attempt);
  const changesRun = attempt !== undefined && !isPlain(attempt);
  if (!releaseKey && !changesRun && result === NOTHING_SPECIAL) return NONE;
  return [{ number: index + 1, releaseKey, attempt: result, ...(changesRun ? noteOf(attempt) : NO_NOTE) }];
}

/** Whether the call succeeded, ran what was sent, has no target, and changes nothing else about its run. */
function isPlain({ ending, cost, endsRun, stall, effective, target }: SettledAttempt): boolean {
  const changesNothing = cost === undefined && endsRun === undefined && stall === undefined;
  return ending === 'ok' && changesNothing && effective === undefined && target === undefined;
}

/** The fields of a row from `session` on: see the note in `shared/settled-attempts.lua`. */
function noteOf({ session, run, cost, endsRun, stall }: SettledAttempt): NamedValues {
  const restMs = endsRun === undefined ? '' : Math.ceil(endsRun.restMs);
  return { session, run, cost: cost ?? '', restMs, stall: stall ?? '' };
}

const NO_NOTE: NamedValues = Object.freeze({ session: '', run: '', cost: '', restMs: '', stall: '' });

export async function startCalls(
  context: RedisContext,
  lane: number,
  requests: readonly StartRequest[],
): Promise<StartAnswer[]> {
  const keys = context.lane(lane);
  const answers = await context.fcall('start_calls', {
    keys: { meta: keys.meta, audit: keys.audit, calls: keys.calls },
    args: leaseArguments(context, lane, requests),
    each: requests.map((request) => ({
      callId: request.callId,
      entry: request.entryId,
      fence: request.fence,
      effect: request.effect,
      maxAttempts: request.maxAttempts,
      intent: request.intent ?? '',
    })),
  });
  return requests.map((_, index) => toStartAnswer(answerOf(answers, index)));
}

const FIRST_START: StartAnswer = Object.freeze({ kind: 'started', starts: 1 });

function toStartAnswer(answer: unknown): StartAnswer {
  if (!Array.isArray(answer) && asText(answer) === 'STARTED') return FIRST_START;
  const second = asList(answer)[1];
  switch (wordOf(answer)) {
    case 'STARTED':
      return { kind: 'started', starts: asNumber(second) };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'CANCELLED':
      return { kind: 'cancelled' };
    case 'EXPIRED':
      return { kind: 'expired' };
    case 'ENDED':
      return { kind: 'session-ended', ending: asText(second) as SessionEnding };
    case 'AUDIT_LATE':
      return { kind: 'audit-late' };
    case 'MAY_HAVE_RUN':
      return { kind: 'may-have-run' };
    case 'USED_UP':
      return { kind: 'used-up', starts: asNumber(second) };
    default:
      throw unexpected(answer);
  }
}

export async function renewCalls(context: RedisContext, request: RenewRequest): Promise<RenewAnswer[]> {
  const answers = new Map<OwnedCall, RenewAnswer>();
  for (const calls of byWorkerAndPool(request.calls)) {
    const keys = context.lane(request.lane);
    const renewed = await context.fcall('renew_calls', {
      keys: { meta: keys.meta, calls: keys.calls },
      args: leaseArguments(context, request.lane, calls),
      each: calls.map(({ callId, entryId, fence }) => ({ callId, entry: entryId, fence })),
    });
    asList(renewed).forEach((answer, index) => answers.set(calls[index]!, translate(RENEWED, answer)));
  }
  return request.calls.map((call) => answers.get(call)!);
}

function byWorkerAndPool(calls: readonly OwnedCall[]): OwnedCall[][] {
  const groups = new Map<string, OwnedCall[]>();
  for (const call of calls) {
    const name = `${call.workerId}/${call.pool}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [call]);
    else group.push(call);
  }
  return [...groups.values()];
}

/** Arguments that let a function find out in one step, for a whole batch, which entries the worker holds. */
function leaseArguments(context: RedisContext, lane: number, calls: readonly OwnedCall[]): NamedValues {
  const [first, last] = rangeOfEntries(calls);
  const { workerId, pool } = calls[0]!;
  return { incarnation: context.incarnation, lane: context.lane(lane).prefix, worker: workerId, pool, first, last };
}

/** Returns the lowest and the highest entry id. Entry ids are two numbers, `milliseconds-sequence`, which cannot be sorted as text. */
function rangeOfEntries(calls: readonly OwnedCall[]): [first: string, last: string] {
  let first = calls[0]!.entryId;
  let last = first;
  for (const { entryId } of calls) {
    if (isBefore(entryId, first)) first = entryId;
    if (isBefore(last, entryId)) last = entryId;
  }
  return [first, last];
}

function isBefore(a: string, b: string): boolean {
  const ms = Number.parseInt(a, 10) - Number.parseInt(b, 10);
  if (ms !== 0) return ms < 0;
  // Sequences have no leading zeros, so the longer one is higher.
  return a.length === b.length ? a < b : a.length < b.length;
}

export function translate<Answer>(words: Record<string, Answer>, answer: unknown): Answer {
  const found = words[wordOf(answer)];
  if (found === undefined) throw unexpected(answer);
  return found;
}
