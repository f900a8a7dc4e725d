import type { SessionHandle } from '../domain/session.ts';
import type { Authenticated } from './authenticated.ts';

/**
 * Sessions in which bearers of agent tokens call. A token is no session: the gateway opens one for it, keeps its handle in memory only,
 * and opens another when that has ended or the gateway was restarted. Calls belong to the subject, so results are found from any of them.
 */
export interface AgentSessions {
  /**
   * The session of this bearer, and its run of this name (loop detection looks at one run at a time). Without a name: one run that is
   * replaced after it was idle for a while. Throws a PlaneError if the bearer is no agent or its session has ended.
   */
  handleOf(bearer: Authenticated, runName?: string): Promise<SessionHandle>;
  /** Revokes what this bearer has here; for tokens that were revoked. */
  close(bearerId: string): Promise<void>;
  closeAll(): Promise<void>;
}
