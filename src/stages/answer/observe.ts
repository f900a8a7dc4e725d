import type { Envelope } from '../../domain/call.ts';
import type { ArgumentChange } from '../../domain/argument-change.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Identity } from '../../domain/session.ts';
import type { DeliveredCall, Plane, ServedTool } from '../../ports/plane.ts';

interface IdentifiedCall {
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
  readonly arguments: JsonObject;
}

interface AllowedCall {
  readonly call: { readonly arguments: JsonObject };
  readonly facts: { readonly changedBy?: readonly ArgumentChange[] };
}

interface SettledCall {
  readonly delivered: DeliveredCall;
  readonly outcome: Outcome;
  readonly answer: string;
  readonly durationMs: number;
}

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
