import type { ArgumentChange } from '../../domain/call/argument-change.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import type { AllowedCall, IdentifiedCall, SettledCall } from '../../domain/ports/staged-calls.ts';

const UNCHANGED: readonly ArgumentChange[] = Object.freeze([]);

/** Calls the observers with the end of a call, once: only the worker that settled it does. Nothing they do changes or delays the outcome. */
export function observe(
  { envelope, identity, tool, arguments: sent }: IdentifiedCall,
  allowed: AllowedCall | undefined,
  { delivered, outcome, answer, durationMs }: SettledCall,
  { hooks }: Pick<Plane, 'hooks'>,
): void {
  if (hooks === undefined || answer !== 'settled') return;
  const { delivery } = delivered;
  hooks.after({
    callId: delivery.callId,
    session: delivery.session,
    run: delivery.run,
    identity,
    ...(envelope.parent === undefined ? {} : { parent: envelope.parent }),
    ...(envelope.trace === undefined ? {} : { trace: envelope.trace }),
    ...(envelope.untrusted === undefined ? {} : { untrusted: envelope.untrusted }),
    tool: tool.declaration,
    arguments: allowed?.call.arguments ?? sent,
    changedBy: allowed?.facts.changedBy ?? UNCHANGED,
    outcome,
    durationMs,
  });
}
