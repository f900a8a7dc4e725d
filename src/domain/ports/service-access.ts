import type { JsonValue } from '../../base/json.ts';
import type { ServiceCaller } from '../tool/service.ts';

/** The services of a worker, as the execute stage sees them. */
export interface ServiceOpener {
  /** Opens access for one call; it must be closed when the call ends. */
  open(needs: readonly string[], caller: ServiceCaller): ServiceAccess;
}

/** What one call may use of the services that its module declared. Bound to the call's identity; unusable once the call has ended. */
export interface ServiceAccess {
  /** The method names that each service offers, by service. */
  readonly offered: Readonly<Record<string, readonly string[]>>;
  /** Rejects with a ServiceFailure for every failure, and within the deadline of one request. */
  readonly call: (request: ServiceRequest) => Promise<JsonValue>;
  /** Ends the access when the call ends. Requests in progress are aborted, and later ones get no answer. */
  close(): void;
}

export interface ServiceRequest {
  readonly service: string;
  readonly method: string;
  readonly args: readonly JsonValue[];
}
