import { DEPLOYMENT_LANE } from '../../domain/audit-record.ts';

/** Key names. All keys of a lane share one hash tag; the deployment's own records share another. */
export interface LaneKeys {
  /** `{name:lane}:`, what the scripts derive the keys of single calls, sessions and callers from. */
  readonly prefix: string;
  readonly meta: string;
  readonly live: string;
  /** The journal: records on their way to a sink, one element each. */
  readonly audit: string;
  /** How far the journal was drained. Only roles that drain write it. */
  readonly drain: string;
  /** The stream in which earlier releases kept the records. */
  readonly oldAudit: string;
  readonly sessions: string;
  /** Bytes of outcomes by when they may be forgotten. */
  readonly retained: string;
  /** How many calls of each subject stand and wait, and what each subject uses. */
  readonly windows: string;
  /** All calls with their outcomes: one hash, so that a batch is one command. */
  readonly calls: string;
  readonly stream: (pool: string) => string;
  readonly body: (callId: string) => string;
  readonly session: (session: string) => string;
  readonly reply: (callerId: string) => string;
  readonly approval: (id: string) => string;
  /** Ids of the approvals in one state: pending ones by expiry, others by when they were resolved. */
  readonly approvals: (state: string) => string;
  /** `<id> <worker that asked>` by when it was resolved. */
  readonly waitingCallbacks: string;
  /** Ids by when they have to be finished. */
  readonly claimedCallbacks: string;
  readonly grant: (id: string) => string;
  /** By expiry. */
  readonly grants: string;
  readonly effect: (key: string) => string;
  /** Keys of effects by when they were published. */
  readonly effects: string;
  /** Rung when an effect of the platform may be due. */
  readonly bell: (platform: string) => string;
}

/** The consumer group of every pool's stream. */
export const GROUP = 'workers';

/** The lane of the deployment has the hash tag of the deployment's own records: meta and audit beside policy and tokens. */
export function laneKeys(name: string, lane: number): LaneKeys {
  const prefix = lane === DEPLOYMENT_LANE ? `{${name}}:` : `{${name}:${lane}}:`;
  return {
    prefix,
    meta: `${prefix}meta`,
    live: `${prefix}live`,
    audit: `${prefix}journal`,
    drain: `${prefix}drain`,
    oldAudit: `${prefix}audit`,
    sessions: `${prefix}sessions`,
    retained: `${prefix}retained`,
    windows: `${prefix}windows`,
    calls: `${prefix}calls`,
    stream: (pool) => `${prefix}pool:${pool}`,
    body: (callId) => `${prefix}body:${callId}`,
    session: (session) => `${prefix}session:${session}`,
    reply: (callerId) => `${prefix}reply:${callerId}`,
    approval: (id) => `${prefix}approval:${id}`,
    approvals: (state) => `${prefix}approvals:${state}`,
    waitingCallbacks: `${prefix}callbacks:waiting`,
    claimedCallbacks: `${prefix}callbacks:claimed`,
    grant: (id) => `${prefix}grant:${id}`,
    grants: `${prefix}grants`,
    effect: (key) => `${prefix}effect:${key}`,
    effects: `${prefix}outbound:all`,
    bell: (platform) => `${prefix}outbound:bell:${platform}`,
  };
}

export interface DeploymentKeys {
  readonly incarnation: string;
  readonly policy: string;
  readonly catalog: string;
  /** Number and hash of the last signed statement of the audit. */
  readonly statements: string;
  readonly workers: string;
  readonly pools: string;
  readonly worker: (workerId: string) => string;
  readonly token: (id: string) => string;
  /** Sessions that gateways opened for a token, by when they expire. */
  readonly tokenSessions: (id: string) => string;
  /** Ids of tokens by when they were made. */
  readonly tokens: string;
  /** By when they are forgotten. */
  readonly tokenEnds: string;
  /** Revoked tokens with sessions that may not be revoked yet, by when that was begun. */
  readonly tokensRevoking: string;
  /** What may be used once, until it expires. */
  readonly once: (digest: string) => string;
}

export function deploymentKeys(name: string): DeploymentKeys {
  const prefix = `{${name}}:`;
  return {
    incarnation: `${prefix}incarnation`,
    policy: `${prefix}policy`,
    catalog: `${prefix}catalog`,
    statements: `${prefix}statements`,
    workers: `${prefix}workers`,
    pools: `${prefix}pools`,
    worker: (workerId) => `${prefix}worker:${workerId}`,
    token: (id) => `${prefix}token:${id}`,
    tokenSessions: (id) => `${prefix}token:${id}:sessions`,
    tokens: `${prefix}tokens`,
    tokenEnds: `${prefix}tokens:ends`,
    tokensRevoking: `${prefix}tokens:revoking`,
    once: (digest) => `${prefix}once:${digest}`,
  };
}
