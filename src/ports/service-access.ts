import type { JsonValue } from '../domain/json.ts';
import type { ServiceCaller } from '../domain/service.ts';

/** The services a worker has, as the execute stage sees them. */
export interface ServiceDoor {
  /** For one call; it must be closed when the call ends. */
  open(needs: readonly string[], caller: ServiceCaller): ServiceAccess;
}

/** What one call may ask of the services its module declared. Bound to the call's identity; dead once the call has ended. */
export interface ServiceAccess {
  /** Service → names of its methods. */
  readonly offered: Readonly<Record<string, readonly string[]>>;
  /** Rejects with a ServiceFailure for whatever goes wrong, and within the deadline of one request. */
  readonly call: (request: ServiceRequest) => Promise<JsonValue>;
  /** Nothing is answered any more; what is under way is aborted. */
  close(): void;
}

export interface ServiceRequest {
  readonly service: string;
  readonly method: string;
  readonly args: readonly JsonValue[];
}
