import type { CallEvent } from '../../domain/call-event.ts';
import { ended, type Ending } from '../../domain/ending.ts';
import type { Envelope } from '../../domain/call.ts';
import { trouble } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { SECRET_WORD } from '../../domain/secret-reference.ts';
import { refuseSecret, refuseSecrets, type SecretUser } from '../../domain/secret-use.ts';
import type { Identity } from '../../domain/session.ts';
import type { Soon } from '../../domain/soon.ts';
import { parseTrace, toTraceContext, type TraceContext } from '../../domain/trace-context.ts';
import type { DeliveredCall, Plane, ServedTool } from '../../ports/plane.ts';
import type { SecretUse } from '../../ports/tool-runner.ts';
import { encode } from '../../wire/message-pack.ts';
import { startTrace } from '../../wire/trace.ts';
import { begin } from './begin.ts';
import { redactLine } from './redact-line.ts';
import { runAndJudge, type ExecutableCall } from './run-and-judge.ts';
import { tellStarted } from './tell-started.ts';

const STARTED: CallEvent = Object.freeze({ kind: 'started' });

interface AllowedCall {
  readonly claimed: DeliveredCall & { readonly now: number; readonly policy: Policy };
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
  readonly arguments: JsonObject;
}

type Needs = Pick<Plane, 'store' | 'runners' | 'nested' | 'log' | 'secrets' | 'redactor'>;

/** Runs the tool under its deadline and turns whatever happens into one ending. */
export function execute(
  verdict: { readonly call: AllowedCall; readonly facts?: { readonly effective?: string } },
  needs: Needs,
): Soon<Ending> {
  const { call, facts } = verdict;
  if (call.claimed.signal.aborted) return stopped(call, 'no', needs);
  // Identify looked at what the caller sent; hooks and people may have put other references into it.
  const refused =
    facts?.effective === undefined
      ? undefined
      : refuseSecrets(secretUser(call, needs), {
          canonical: facts.effective,
          arguments: call.arguments,
          setup: call.tool.setup,
        });
  if (refused !== undefined) return ended(refused);
  const beginning = begin({ delivered: call.claimed, tool: call.tool, identity: call.identity }, needs);
  const canonical = facts?.effective ?? call.envelope.arguments;
  if (!(beginning instanceof Promise)) return beginning.kind === 'begun' ? run(call, canonical, needs) : beginning;
  return beginning.then((begun) => (begun.kind === 'begun' ? run(call, canonical, needs) : begun));
}

function run(call: AllowedCall, canonical: string, needs: Needs): Soon<Ending> {
  notify(call, STARTED, needs);
  const use = secretUse(call, canonical, needs);
  const order = executable(call, needs);
  const outcome = runAndJudge(use === undefined ? order : { ...order, secrets: use }, needs);
  return outcome instanceof Promise ? outcome.then((late) => ending(call, late, needs)) : ending(call, outcome, needs);
}

function ending(call: AllowedCall, outcome: Outcome, needs: Needs): Soon<Ending> {
  if (!call.claimed.signal.aborted || outcome.kind !== 'cancelled') return ended(outcome);
  return stopped(call, 'unknown', needs);
}

function secretUser({ tool, identity, claimed }: AllowedCall, { secrets }: Needs): SecretUser {
  const knows = (name: string): boolean => secrets?.knows(name) === true;
  return { tool: tool.declaration, policy: claimed.policy, identity, knows };
}

/** Most calls have nothing to do with secrets. */
function secretUse(call: AllowedCall, canonical: string, needs: Needs): SecretUse | undefined {
  if (call.tool.declaration.secrets === undefined && !canonical.includes(SECRET_WORD)) return undefined;
  const user = secretUser(call, needs);
  return { refuse: (name, place) => refuseSecret(name, place, user) };
}

function executable(call: AllowedCall, needs: Needs): ExecutableCall {
  const { claimed, envelope, tool } = call;
  const { delivery } = claimed;
  const { declaration } = tool;
  const timeLeftMs = Math.min(declaration.limits.timeoutMs, delivery.deadline - claimed.now);
  const timeoutMs = Math.max(1, Math.round(timeLeftMs));
  const startedAt = performance.now();
  const trace = traceOf(call);
  return {
    tool: declaration,
    source: tool.source,
    setup: tool.setup,
    runner: tool.runner,
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
    onLog: (line) => {
      const { level, message, data } = redactLine(line, needs.redactor);
      needs.log[level]({ ...data, callId: delivery.callId, tool: delivery.tool }, message);
    },
    onNestedCall: (request, signal) => {
      const leftMs = Math.round(timeoutMs - (performance.now() - startedAt));
      return needs.nested(delivery, { depth: envelope.depth + 1, timeLeftMs: leftMs, signal, trace }, request);
    },
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
