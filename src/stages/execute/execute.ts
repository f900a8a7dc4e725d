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
  const begun = await begin({ delivered: call.claimed, tool: call.tool, identity: call.identity }, needs);
  if (begun.kind !== 'begun') return begun;

  const tell = (event: CallEvent): void => notify(call, event, needs);
  tell({ kind: 'started' });
  const { declaration, source, setup, runner, denialPatterns, validateOutput } = call.tool;
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
      timeoutMs: Math.max(1, Math.min(declaration.limits.timeoutMs, delivery.deadline - call.claimed.now)),
      signal,
      onProgress: (progress) => tell({ kind: 'progress', ...progress }),
      onLog: (line) =>
        needs.log[line.level]({ callId: delivery.callId, tool: delivery.tool, ...line.data }, line.message),
      onNestedCall: (request) => needs.nested(delivery, call.envelope.depth + 1, request, signal),
    },
    needs,
  );
  if (!signal.aborted || outcome.kind !== 'cancelled') return ended(outcome);
  return stopped(call, needs);
}

/** The run was aborted by us. Why decides what the call's ending is. */
async function stopped(call: AllowedCall, needs: Needs): Promise<Ending> {
  const { delivery, signal } = call.claimed;
  if (signal.reason === 'lost') return { kind: 'lost' };
  if (signal.reason !== 'draining') return ended(trouble('CALL_CANCELLED', {}, { executed: 'unknown' }));
  if (call.tool.declaration.effect === 'unsafe') {
    return ended(trouble('MAY_HAVE_RUN', { tool: delivery.tool }, { executed: 'unknown' }));
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
