import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';

/** Key names. All keys of a lane share one hash tag; the deployment's own records share another. */
export interface LaneKeys {
  /** `{name:lane}:`. The scripts derive the keys of single calls, sessions and callers from it. */
  readonly prefix: string;
  readonly meta: string;
  readonly live: string;
  /** The journal: audit records that wait for a sink, one element each. */
  readonly audit: string;
  /** How far the journal was drained. Only roles that drain write it. */
  readonly drain: string;
  /** The stream in which earlier releases kept the records. */
  readonly oldAudit: string;
  readonly sessions: string;
  /** Bytes of outcomes, by the time at which they may be deleted. */
  readonly retained: string;
  /** How many calls of each subject are in a stream and in the backlog, and what each subject uses. */
  readonly windows: string;
  /** All calls with their outcomes. It is one hash, so that a batch needs one command. */
  readonly calls: string;
  readonly stream: (pool: string) => string;
  readonly body: (callId: string) => string;
  readonly session: (session: string) => string;
  readonly reply: (callerId: string) => string;
  readonly approval: (id: string) => string;
  /** Ids of the approvals in one state. Pending ones are sorted by expiry, others by when they were resolved. */
  readonly approvals: (state: string) => string;
  /** Members are `<id> <worker that asked>`, sorted by when the approval was resolved. */
  readonly waitingCallbacks: string;
  /** Ids, sorted by when the callback must be finished. */
  readonly claimedCallbacks: string;
  readonly grant: (id: string) => string;
  /** Ids of grants, sorted by expiry. */
  readonly grants: string;
  readonly effect: (key: string) => string;
  /** Keys of effects, sorted by when they were published. */
  readonly effects: string;
  /** A list that wakes gateways: it gets an element when an effect of the platform may be due. */
  readonly bell: (platform: string) => string;
}

/** The consumer group of every pool's stream. */
export const GROUP = 'workers';

/** The lane of the deployment has the hash tag of the deployment's own records, so its meta and audit are in one slot with policy and tokens. */
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
  /** The pins of MCP servers. */
  readonly pins: string;
  /** What workers saw at each MCP server: a hash by the id of the upstream. */
  readonly offers: string;
  /** Number and hash of the last signed statement of the audit. */
  readonly statements: string;
  readonly workers: string;
  readonly pools: string;
  readonly worker: (workerId: string) => string;
  readonly token: (id: string) => string;
  /** Sessions that gateways opened for a token, sorted by expiry. */
  readonly tokenSessions: (id: string) => string;
  /** Ids of tokens, sorted by creation time. */
  readonly tokens: string;
  /** Ids of tokens, sorted by when they are deleted. */
  readonly tokenEnds: string;
  /** Revoked tokens with sessions that may not be revoked yet, sorted by when the revocation began. */
  readonly tokensRevoking: string;
  /** Marks that the digest was used. The key expires with what may be used only once. */
  readonly once: (digest: string) => string;
}

export function deploymentKeys(name: string): DeploymentKeys {
  const prefix = `{${name}}:`;
  return {
    incarnation: `${prefix}incarnation`,
    policy: `${prefix}policy`,
    catalog: `${prefix}catalog`,
    pins: `${prefix}pins`,
    offers: `${prefix}offers`,
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
