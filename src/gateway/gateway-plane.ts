import type { Client } from '../client/client.ts';
import type { Config } from '../config/config-schema.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import type { Log } from '../domain/ports/log.ts';
import type { GatewayStore } from '../domain/ports/store.ts';
import type { AgentSessions } from './agent-sessions.ts';
import type { GatewayOperations } from './operations.ts';

/** Everything that a route of the gateway may use. Built in `compose/`. */
export interface GatewayPlane {
  readonly gatewayId: string;
  readonly config: Config;
  readonly store: GatewayStore;
  readonly client: Client;
  /** Where the audit is kept: the embedded store itself, or the sink of a Redis store. */
  readonly trail: AuditTrail;
  readonly sessions: AgentSessions;
  readonly log: Log;
  /** What operators, approvers and admins do with the deployment. */
  readonly operations: GatewayOperations;
}
