import type { CallEvent } from '../../domain/call-event.ts';
import { ended, type Ending } from '../../domain/ending.ts';
import type { Envelope } from '../../domain/call.ts';
import { trouble } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Identity } from '../../domain/session.ts';
import type { DeliveredCall, Plane, ServedTool } from '../../ports/plane.ts';
import { encode } from '../../wire/message-pack.ts';
import { begin } from './begin.ts';
import { runAndJudge } from './run-and-judge.ts';

interface AllowedCall {
  readonly claimed: DeliveredCall & { readonly now: number };
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
  readonly arguments: JsonObject;
}

type Needs = Pick<Plane, 'store' | 'runners' | 'nested' | 'log'>;

/** Runs the tool under its deadline and turns whatever happens into one ending. */
export async function execute(verdict: { readonly call: AllowedCall }, needs: Needs): Promise<Ending> {
  const { call } = verdict;
  const { delivery, signal } = call.claimed;
  if (signal.aborted) return stopped(call, 'no', needs);
  const begun = await begin({ delivered: call.claimed, tool: call.tool, identity: call.identity }, needs);
  if (begun.kind !== 'begun') return begun;

  const tell = (event: CallEvent): void => notify(call, event, needs);
  tell({ kind: 'started' });
  const { declaration, source, setup, runner, denialPatterns, validateOutput } = call.tool;
  const timeoutMs = Math.max(
    1,
    Math.round(Math.min(declaration.limits.timeoutMs, delivery.deadline - call.claimed.now)),
  );
  const startedAt = performance.now();
  const outcome = await runAndJudge(
    {
      tool: declaration,
      source,
      setup,
      runner,
      denials: denialPatterns,
      validateOutput,
      callId: delivery.callId,
      fence: delivery.fence,
      identity: call.identity,
      session: delivery.session,
      run: delivery.run,
      arguments: call.arguments,
      untrusted: call.envelope.untrusted ?? {},
      trace: call.envelope.trace,
      timeoutMs,
      signal,
      onProgress: (progress) => tell({ kind: 'progress', ...progress }),
      onLog: (line) =>
        needs.log[line.level]({ ...line.data, callId: delivery.callId, tool: delivery.tool }, line.message),
      onNestedCall: (request, ended) => {
        const timeLeftMs = Math.round(timeoutMs - (performance.now() - startedAt));
        return needs.nested(delivery, { depth: call.envelope.depth + 1, timeLeftMs, signal: ended }, request);
      },
    },
    needs,
  );
  if (!signal.aborted || outcome.kind !== 'cancelled') return ended(outcome);
  return stopped(call, 'unknown', needs);
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
