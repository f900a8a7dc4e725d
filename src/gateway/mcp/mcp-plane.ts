import type { CallAnswer } from '../../client/call-answer.ts';
import type { Client } from '../../client/client.ts';
import type { Config } from '../../config/config-schema.ts';
import type { Identity, SessionHandle } from '../../domain/identity/session.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { CallReader } from '../../domain/ports/call-store.ts';
import type { OwedStore } from '../../domain/ports/owed-store.ts';
import type { PolicyReader } from '../../domain/ports/policy-store.ts';
import type { SingleUse } from '../../domain/ports/token-store.ts';

/** The sender of a request, as the authentication established it. Nothing here is read from the messages. */
export interface McpBearer {
  /** The key for everything that belongs to one bearer: sessions, subscriptions, sealed state. */
  readonly id: string;
  /** The identity that calls are made for. A bearer without one sees nothing here. */
  readonly identity?: Identity;
  readonly expiresAt: number;
}

/** What the endpoint may use: a subset of what every route of the gateway may use. */
export interface McpPlane {
  /** The server version that clients are shown. */
  readonly release?: string;
  readonly config: Pick<Config, 'folder' | 'gateway' | 'worker'>;
  readonly client: Pick<
    Client,
    'call' | 'result' | 'wait' | 'cancel' | 'toolkit' | 'watchToolkit' | 'approvals' | 'catalog'
  >;
  readonly store: OwedStore & CallReader & PolicyReader & SingleUse;
  readonly sessions: {
    /** The bearer's session, with its run of this name. */
    handleOf(bearer: McpBearer, runName?: string): Promise<SessionHandle>;
    /**
     * Makes a call in the session and run that `handleOf` returns. If that run is over and was chosen for the bearer, makes the call once
     * more in a new run. Without this method the call is made only once.
     */
    callIn?(
      bearer: McpBearer,
      runName: string | undefined,
      call: (session: SessionHandle) => Promise<CallAnswer>,
    ): Promise<CallAnswer>;
    /** Ends the run of this name: no client will come back for it. */
    endRun?(bearerId: string, runName: string): Promise<void>;
  };
  readonly log: Pick<Log, 'warn' | 'debug'>;
}
