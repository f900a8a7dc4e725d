import type { CallAnswer } from '../../client/call-answer.ts';
import type { Client } from '../../client/client.ts';
import type { Config } from '../../config/config-schema.ts';
import type { Identity, SessionHandle } from '../../domain/session.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';

/** Who speaks, as whoever authenticated them says. Nothing of it comes from the messages. */
export interface McpBearer {
  /** Keys whatever belongs to one bearer: sessions, subscriptions, sealed state. */
  readonly id: string;
  /** Whom calls are made for. Without one there is nothing here to see. */
  readonly identity?: Identity;
  readonly expiresAt: number;
}

/** What the endpoint may use: a part of what every route of the gateway may. */
export interface McpPlane {
  /** What clients are told to speak with. */
  readonly release?: string;
  readonly config: Pick<Config, 'folder' | 'gateway' | 'worker'>;
  readonly client: Pick<
    Client,
    'call' | 'result' | 'wait' | 'cancel' | 'toolkit' | 'watchToolkit' | 'approvals' | 'catalog'
  >;
  readonly store: Pick<Store, 'readPolicy' | 'readCall' | 'useOnce' | 'holdOwed' | 'releaseOwed' | 'beatOwed'>;
  readonly sessions: {
    /** The session of this bearer, and its run of this name. */
    handleOf(bearer: McpBearer, runName?: string): Promise<SessionHandle>;
    /** Makes a call in that session and run; once more in a new one, if what was chosen for the bearer is over. Absent: in that one only. */
    callIn?(
      bearer: McpBearer,
      runName: string | undefined,
      call: (session: SessionHandle) => Promise<CallAnswer>,
    ): Promise<CallAnswer>;
    /** Nobody will come back for the run of this name. */
    endRun?(bearerId: string, runName: string): Promise<void>;
  };
  readonly log: Pick<Log, 'warn' | 'debug'>;
}
