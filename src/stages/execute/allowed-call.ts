import type { Envelope } from '../../domain/call/call.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import type { Identity } from '../../domain/identity/session.ts';
import type { DeliveredCall, ServedTool } from '../../domain/ports/plane.ts';

/** A call that the gate allowed, as the execute stage sees it. */
export interface AllowedCall {
  readonly admitted: DeliveredCall & { readonly now: number; readonly policy: Policy; readonly policyVersion?: number };
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
  readonly arguments: JsonObject;
  /** The arguments as canonical JSON. */
  readonly canonical: string;
}
