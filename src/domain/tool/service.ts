import type { CallId, SessionId, ToolId } from '../identity/ids.ts';
import type { Identity } from '../identity/session.ts';

/** Health of a service. `degraded`: it works, but not all of it; `failed`: tools that need it fail. */
export const SERVICE_STATES = ['ok', 'degraded', 'failed'] as const;

export interface ServiceHealth {
  readonly service: string;
  readonly state: (typeof SERVICE_STATES)[number];
  /** A few words for the operator, if the service is not ok. */
  readonly detail?: string;
}

/** The call that uses a service. All fields come from the session and the plane, never from arguments. */
export interface ServiceCaller {
  readonly identity: Identity;
  readonly session: SessionId;
  readonly callId: CallId;
  readonly fence: number;
  readonly tool: ToolId;
}
