import type { ArgumentChange } from '../../domain/call/argument-change.ts';
import type { CallEvent } from '../../domain/call/call-event.ts';
import { ended, type Ending } from '../../domain/call/ending.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { Executed, Outcome } from '../../domain/outcome/outcome.ts';
import { refuseSecrets } from '../../domain/secret/secret-use.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { parseTrace, toTraceContext, traceIdIn, type TraceContext } from '../../domain/call/trace-context.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import type { ServiceAccess } from '../../domain/ports/service-access.ts';
import type { Scrub } from '../../domain/ports/tool-runner.ts';
import { encode } from '../../base/message-pack.ts';
import { startTrace } from '../../domain/call/trace.ts';
import type { IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import { begin } from './begin.ts';
import { EntryCheck, type Permit } from './given-to-call.ts';
import { effectsOf, openServices, secretUse, secretUser, timeoutOf, type LazyEffects } from './given-to-call.ts';
import { redactLine } from './redact-line.ts';
import { reviewFor, reviewResult, type ResultReview } from './review-result.ts';
import { withInput, runAndJudge, type ExecutableCall } from './run-and-judge.ts';
import { emitStarted } from './emit-started.ts';

const STARTED: CallEvent = Object.freeze({ kind: 'started' });

type Needs = Pick<
  Plane,
  | 'store'
  | 'settings'
  | 'runners'
  | 'nested'
  | 'log'
  | 'secrets'
  | 'redactor'
  | 'sealer'
  | 'services'
  | 'effects'
  | 'hooks'
>;

interface VerdictFacts {
  readonly effective?: string;
  readonly changedBy?: readonly ArgumentChange[];
}

/** Runs the tool under its deadline. However the run ends (a result, an error, a timeout, an abort), the call gets exactly one ending. */
export function execute(
  verdict: { readonly call: IdentifiedCall; readonly facts?: VerdictFacts },
  needs: Needs,
  permit?: Permit,
): MaybePromise<Ending> {
  const { call, facts } = verdict;
  if (call.admitted.signal.aborted) return stopped(call, 'no', needs);
  // The stage identify checked the secret references that the caller sent. Hooks and approvers may have added others since.
  const refused =
    facts?.effective === undefined
      ? undefined
      : refuseSecrets(secretUser(call, needs), {
          canonical: facts.effective,
          arguments: call.arguments,
          setup: call.tool.setup,
        });
  if (refused !== undefined) return ended(refused);
  const { admitted: delivered, tool, identity, canonical, envelope: sent } = call;
  const beginning = begin({ delivered, tool, identity, canonical, sent }, needs);
  const enter = (): MaybePromise<Ending> => run(call, needs, permit, reviewFor(call, facts?.changedBy, needs));
  if (!(beginning instanceof Promise)) return beginning.kind === 'begun' ? enter() : beginning;
  permit?.marked();
  return beginning.then((begun) => (begun.kind === 'begun' ? enter() : begun));
}

function run(
  call: IdentifiedCall,
  needs: Needs,
  permit: Permit | undefined,
  review: ResultReview | undefined,
): MaybePromise<Ending> {
  const start = permit === undefined ? undefined : new EntryCheck(permit);
  notify(call, STARTED, needs);
  const services = openServices(call, needs);
  const effects = effectsOf(call, needs);
  const onTaint = review === undefined ? undefined : (scrub: Scrub) => void (review.scrub = scrub);
  const use = secretUse(call, call.canonical, needs, onTaint);
  const order = withInput(executable(call, needs, { services, effects, start }), call.envelope);
  const outcome = runAndJudge(use === undefined ? order : { ...order, secrets: use }, needs);
  const end = (late: Outcome): MaybePromise<Ending> => {
    services?.close();
    const stop = start?.stopped;
    if (stop !== undefined) return stop;
    const opened = effects?.opened;
    if (opened === undefined) return ending(call, late, needs, review);
    // The tool may have sent effects without awaiting them. Publish those before the call is settled; the store refuses them afterwards.
    return opened.published().then(() => ending(call, late, needs, review));
  };
  return outcome instanceof Promise ? outcome.then(end) : end(outcome);
}

function ending(
  call: IdentifiedCall,
  outcome: Outcome,
  needs: Needs,
  review: ResultReview | undefined,
): MaybePromise<Ending> {
  if (call.admitted.signal.aborted && outcome.kind === 'cancelled') return stopped(call, 'unknown', needs);
  if (review === undefined) return ended(outcome);
  return reviewResult(call, outcome, review, (withheld) =>
    stopped(call, outcome.executed, needs, { withheld, own: outcome }),
  );
}

interface GivenToRun {
  readonly services: ServiceAccess | undefined;
  readonly effects: LazyEffects | undefined;
  readonly start: EntryCheck | undefined;
}

function executable(call: IdentifiedCall, needs: Needs, { services, effects, start }: GivenToRun): ExecutableCall {
  const { admitted, envelope, tool } = call;
  const { delivery } = admitted;
  const { declaration } = tool;
  const timeoutMs = timeoutOf(admitted, tool);
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
    signal: admitted.signal,
    start,
    services,
    onProgress: (progress) => notify(call, { kind: 'progress', ...progress }, needs),
    onLog: (line) => {
      if (line.notice !== undefined)
        return notify(call, { kind: 'logged', level: line.level, data: line.notice.value }, needs);
      const { level, message, data } = redactLine(line, needs.redactor);
      const { callId, tool: id } = delivery;
      needs.log[level]({ ...data, stage: 'execute', callId, tool: id, ...traceIdIn(trace?.traceparent) }, message);
    },
    onNestedCall: (request, signal) => {
      const leftMs = Math.round(timeoutMs - (performance.now() - startedAt));
      return needs.nested(delivery, { depth: envelope.depth + 1, timeLeftMs: leftMs, signal, trace }, request);
    },
    onPlatform: effects?.onPlatform,
    onJudged: admitted.events === undefined ? undefined : emitStarted(call, admitted.events),
  };
}

/**
 * While no listener wants spans, the caller's own span is passed on to the tool. A new span would never be reported and would break the
 * chain.
 */
function traceOf({ admitted, envelope }: IdentifiedCall): TraceContext | undefined {
  const own = admitted.events?.traceOf('execute');
  if (own !== undefined) return own;
  if (envelope.trace === undefined) return undefined;
  return toTraceContext(parseTrace(envelope.trace, envelope.traceState) ?? startTrace());
}

/**
 * Ends a call that was aborted on this worker before or while its tool ran, or while result hooks were asked. The reason of the abort
 * signal decides the ending: `lost`, `draining`, or cancelled.
 */
async function stopped(
  call: IdentifiedCall,
  executed: Executed,
  needs: Needs,
  reviewing?: { readonly withheld: Ending; readonly own: Outcome },
): Promise<Ending> {
  const { delivery, signal } = call.admitted;
  if (signal.reason === 'lost') return { kind: 'lost' };
  if (signal.reason !== 'draining') {
    const outcome = errorOutcome('CALL_CANCELLED', {}, { executed });
    return reviewing === undefined ? ended(outcome) : { kind: 'ended', outcome, reviewed: { own: reviewing.own } };
  }
  if (executed !== 'no' && call.tool.declaration.effect === 'unsafe') {
    // With `reviewing`, a hook was still being asked about the result: the tool certainly ran, and its result is withheld.
    return reviewing?.withheld ?? ended(errorOutcome('MAY_HAVE_RUN', { tool: delivery.tool }, { executed }));
  }
  const answer = await needs.store.abandonCall({ ...delivery, handedBack: false });
  return answer === 'abandoned' ? { kind: 'handed-back' } : { kind: 'lost' };
}

/** Best effort: a waiter that misses an event still gets the outcome. */
function notify(call: IdentifiedCall, event: CallEvent, needs: Needs): void {
  const { delivery } = call.admitted;
  if (!delivery.eventsWanted) return;
  needs.store.notifyWaiters({ ...delivery, event: encode(event) }).catch((error: unknown) => {
    needs.log.debug({ stage: 'execute', callId: delivery.callId, error }, 'event not sent');
  });
}
