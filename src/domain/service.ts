import type { CallId, SessionId, ToolId } from './ids.ts';
import type { Identity } from './session.ts';

/** How a service is doing. `degraded`: it works, but not all of it; `failed`: tools that need it fail. */
export const SERVICE_STATES = ['ok', 'degraded', 'failed'] as const;

export interface ServiceHealth {
  readonly service: string;
  readonly state: (typeof SERVICE_STATES)[number];
  /** A few words for the operator when it is not ok. */
  readonly detail?: string;
}

/** Whose call it is: from the session and the plane, never from arguments. */
export interface ServiceCaller {
  readonly identity: Identity;
  readonly session: SessionId;
  readonly callId: CallId;
  readonly fence: number;
  readonly tool: ToolId;
}
