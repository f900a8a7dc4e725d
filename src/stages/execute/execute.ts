import type { CallEvent } from '../../domain/call-event.ts';
import { ended, type Ending } from '../../domain/ending.ts';
import type { Envelope } from '../../domain/call.ts';
import { trouble } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Identity } from '../../domain/session.ts';
import type { Soon } from '../../domain/soon.ts';
import { parseTrace, toTraceContext, type TraceContext } from '../../domain/trace-context.ts';
import type { CallEffects } from '../../ports/call-effects.ts';
import type { DeliveredCall, Plane, ServedTool } from '../../ports/plane.ts';
import { encode } from '../../wire/message-pack.ts';
import { startTrace } from '../../wire/trace.ts';
import { begin } from './begin.ts';
import { runAndJudge, type ExecutableCall } from './run-and-judge.ts';
import { tellStarted } from './tell-started.ts';

const STARTED: CallEvent = Object.freeze({ kind: 'started' });

interface AllowedCall {
  readonly claimed: DeliveredCall & { readonly now: number };
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
  readonly arguments: JsonObject;
}

type Needs = Pick<Plane, 'store' | 'runners' | 'nested' | 'log' | 'effects'>;

/** Runs the tool under its deadline and turns whatever happens into one ending. */
export function execute(verdict: { readonly call: AllowedCall }, needs: Needs): Soon<Ending> {
  const { call } = verdict;
  if (call.claimed.signal.aborted) return stopped(call, 'no', needs);
  const beginning = begin({ delivered: call.claimed, tool: call.tool, identity: call.identity }, needs);
  if (!(beginning instanceof Promise)) return beginning.kind === 'begun' ? run(call, needs) : beginning;
  return beginning.then((begun) => (begun.kind === 'begun' ? run(call, needs) : begun));
}

function run(call: AllowedCall, needs: Needs): Soon<Ending> {
  notify(call, STARTED, needs);
  const effects = effectsOf(call, needs);
  const outcome = runAndJudge(executable(call, needs, effects), needs);
  const end = (late: Outcome): Soon<Ending> => {
    const opened = effects?.opened;
    if (opened === undefined) return ending(call, late, needs);
    // What the tool sent without waiting for it is published before its call is settled: afterwards it would be refused.
    return opened.published().then(() => ending(call, late, needs));
  };
  return outcome instanceof Promise ? outcome.then(end) : end(outcome);
}

/** Opened by the first effect: most calls have none. */
interface LazyEffects {
  opened: CallEffects | undefined;
  readonly onPlatform: NonNullable<ExecutableCall['onPlatform']>;
}

function effectsOf({ claimed, identity, tool }: AllowedCall, { effects }: Needs): LazyEffects | undefined {
  if (effects === undefined) return undefined;
  const timeoutMs = timeoutOf(claimed, tool);
  const lazy: LazyEffects = {
    opened: undefined,
    onPlatform: (request, signal) => {
      lazy.opened ??= effects.open({ delivery: claimed.delivery, identity, timeoutMs });
      return lazy.opened.perform(request, signal);
    },
  };
  return lazy;
}

function timeoutOf({ delivery, now }: AllowedCall['claimed'], { declaration }: ServedTool): number {
  return Math.max(1, Math.round(Math.min(declaration.limits.timeoutMs, delivery.deadline - now)));
}

function ending(call: AllowedCall, outcome: Outcome, needs: Needs): Soon<Ending> {
  if (!call.claimed.signal.aborted || outcome.kind !== 'cancelled') return ended(outcome);
  return stopped(call, 'unknown', needs);
}

function executable(call: AllowedCall, needs: Needs, effects: LazyEffects | undefined): ExecutableCall {
  const { claimed, envelope, tool } = call;
  const { delivery } = claimed;
  const { declaration } = tool;
  const timeoutMs = timeoutOf(claimed, tool);
  const startedAt = performance.now();
  const trace = traceOf(call);
  return {
    tool: declaration,
    source: tool.source,
    setup: tool.setup,
    runner: tool.runner,
    builtIn: tool.builtIn,
    denials: tool.denialPatterns,
    validateOutput: tool.validateOutput,
    callId: delivery.callId,
    fence: delivery.fence,
    identity: call.identity,
    session: delivery.session,
    run: delivery.run,
    arguments: call.arguments,
    untrusted: envelope.untrusted ?? {},
    trace,
    timeoutMs,
    signal: claimed.signal,
    onProgress: (progress) => notify(call, { kind: 'progress', ...progress }, needs),
    onLog: (line) =>
      needs.log[line.level]({ ...line.data, callId: delivery.callId, tool: delivery.tool }, line.message),
    onNestedCall: (request, signal) => {
      const leftMs = Math.round(timeoutMs - (performance.now() - startedAt));
      return needs.nested(delivery, { depth: envelope.depth + 1, timeLeftMs: leftMs, signal, trace }, request);
    },
    onPlatform: effects?.onPlatform,
    onJudged: claimed.events === undefined ? undefined : tellStarted(call, claimed.events),
  };
}

/** Without listeners the caller's own is handed on: a span that nobody hears of would only break the chain. */
function traceOf({ claimed, envelope }: AllowedCall): TraceContext | undefined {
  if (claimed.events !== undefined) return claimed.events.traceOf('execute');
  if (envelope.trace === undefined) return undefined;
  return toTraceContext(parseTrace(envelope.trace, envelope.traceState) ?? startTrace());
}

/** We aborted the call, before or while its tool ran. Why decides what its ending is. */
async function stopped(call: AllowedCall, executed: 'no' | 'unknown', needs: Needs): Promise<Ending> {
  const { delivery, signal } = call.claimed;
  if (signal.reason === 'lost') return { kind: 'lost' };
  if (signal.reason !== 'draining') return ended(trouble('CALL_CANCELLED', {}, { executed }));
  if (executed !== 'no' && call.tool.declaration.effect === 'unsafe') {
    return ended(trouble('MAY_HAVE_RUN', { tool: delivery.tool }, { executed }));
  }
  const answer = await needs.store.abandonCall({ ...delivery, handedBack: false });
  return answer === 'abandoned' ? { kind: 'handed-back' } : { kind: 'lost' };
}

/** Best effort: a listener that misses an event still gets the outcome. */
function notify(call: AllowedCall, event: CallEvent, needs: Needs): void {
  const { delivery } = call.claimed;
  if (!delivery.eventsWanted) return;
  needs.store.notifyWaiters({ ...delivery, event: encode(event) }).catch((error: unknown) => {
    needs.log.debug({ callId: delivery.callId, error }, 'event not sent');
  });
}
