import type { AdministrativeFacts, AuditHead, AuditRecord, ChainedRecord } from './audit-record.ts';
import type { Identity } from '../identity/session.ts';
import { readAuditDetail } from './audit-detail.ts';
import { sha256, sha256Bytes } from '../../base/sha256.ts';
import { randomCopy } from '../identity/random-text.ts';

/** The fields of a record that the store adds, and the bytes that the record's author wrote. */
type Entry = Pick<AuditRecord, 'lane' | 'sequence' | 'at' | 'event'> & {
  readonly [Name in 'callId' | 'tool' | 'session' | 'run' | 'bodyDigest' | 'approval' | 'grant']?:
    | AuditRecord[Name]
    | undefined;
} & {
  readonly identity?: string | undefined;
  readonly detail: Uint8Array;
};

const SALT_BYTES = 16;

/**
 * Digest of a payload, with a salt. Without the salt, a reader that has only the record could find the payload by hashing likely payloads.
 */
export function payloadDigest(salt: Uint8Array, bytes: Uint8Array): string {
  return sha256(Buffer.concat([salt, bytes]));
}

/**
 * The link that the first record of a lane is chained to. It includes store and lane, so that the chain of another lane or store cannot be
 * substituted.
 */
export function firstLink(store: string, lane: number): Uint8Array {
  return sha256Bytes(Buffer.from(`sallyport audit 1\n${store}\n${lane}\n`));
}

export function nextLink(previous: Uint8Array, text: string): Uint8Array {
  return sha256Bytes(Buffer.concat([previous, Buffer.from(text)]));
}

/** Makes the record of an entry. `previous` is the hash of the lane's chain up to the record before it, which the new hash includes. */
export function chainEntry(entry: Entry, store: string, previous: Uint8Array): ChainedRecord {
  const salt = randomCopy(SALT_BYTES);
  const digest = payloadDigest(salt, entry.detail);
  const text = JSON.stringify(
    entry.callId === undefined ? administrativeRecordOf(entry, store, digest) : recordOf(entry, store, digest),
  );
  return { text, chain: nextLink(previous, text), payload: { salt, bytes: entry.detail } };
}

/**
 * Builds a record about a call. Members are in sorted order, so that JSON.stringify writes the canonical form (RFC 8785 writes strings,
 * whole numbers and lists of strings in the same way). All members are written out, because this runs for every call, and an object of one
 * fixed shape takes a tenth of the time of one that is assembled from parts.
 */
function recordOf(
  entry: Entry,
  store: string,
  payload: string,
): Record<Exclude<keyof AuditRecord, Exclude<keyof AdministrativeFacts, keyof Identity>>, unknown> {
  const { facts } = readAuditDetail(entry.detail);
  const identity = JSON.parse(entry.identity!) as Identity;
  return {
    agent: identity.agent,
    approval: entry.approval,
    askers: facts.askers,
    at: entry.at,
    binding: facts.binding,
    bodyDigest: entry.bodyDigest,
    by: facts.by,
    callId: entry.callId,
    changedBy: facts.changedBy,
    channel: identity.channel,
    claimedBy: facts.claimedBy,
    code: facts.code,
    decision: facts.decision,
    delegators: identity.delegators,
    detector: facts.detector,
    durationMs: facts.durationMs,
    editedDigest: facts.editedDigest,
    effectiveDigest: facts.effectiveDigest,
    event: entry.event,
    executed: facts.executed,
    gateMs: facts.gateMs,
    grant: entry.grant,
    hook: facts.hook,
    lane: entry.lane,
    outcome: facts.outcome,
    ownResultDigest: facts.ownResultDigest,
    parent: facts.parent,
    payloadDigest: payload,
    permission: facts.permission,
    platform: identity.platform,
    policyVersion: facts.policyVersion,
    resolution: facts.resolution,
    resultChangedBy: facts.resultChangedBy,
    resultDigest: facts.resultDigest,
    rule: facts.rule,
    run: entry.run,
    sequence: entry.sequence,
    session: entry.session,
    space: identity.space,
    store,
    subject: identity.subject,
    tenant: identity.tenant,
    tool: entry.tool,
    toolDigest: facts.toolDigest,
    unattended: identity.unattended,
    version: 1,
  };
}

type AdministrativeField =
  | keyof AdministrativeFacts
  | keyof Identity
  | 'at'
  | 'by'
  | 'event'
  | 'lane'
  | 'payloadDigest'
  | 'policyVersion'
  | 'run'
  | 'sequence'
  | 'session'
  | 'store'
  | 'version';

/**
 * Builds a record that concerns no call. Its members are sorted as in `recordOf`. It has its own shape, so that its fields do not enlarge
 * the records of calls.
 */
function administrativeRecordOf(entry: Entry, store: string, payload: string): Record<AdministrativeField, unknown> {
  const { facts } = readAuditDetail(entry.detail);
  const identity = (entry.identity === undefined ? {} : JSON.parse(entry.identity)) as Partial<Identity>;
  return {
    agent: identity.agent,
    at: entry.at,
    bearer: facts.bearer,
    by: facts.by,
    changed: facts.changed,
    channel: identity.channel,
    delegatedBy: facts.delegatedBy,
    delegators: identity.delegators,
    event: entry.event,
    expiresAt: facts.expiresAt,
    lane: entry.lane,
    payloadDigest: payload,
    platform: identity.platform,
    policyDigest: facts.policyDigest,
    policyVersion: facts.policyVersion,
    previousDigest: facts.previousDigest,
    run: entry.run,
    scopes: facts.scopes,
    sequence: entry.sequence,
    session: entry.session,
    sessions: facts.sessions,
    space: identity.space,
    store,
    subject: identity.subject,
    tenant: identity.tenant,
    token: facts.token,
    tokenName: facts.tokenName,
    unattended: identity.unattended ?? facts.unattended,
    version: 1,
    via: facts.via,
  };
}

/** The size of a record in bytes, for limits on the total. */
export function sizeOfRecord({ text, payload }: ChainedRecord): number {
  return Buffer.byteLength(text) + (payload?.bytes.length ?? 0);
}

/** Undefined for text that is not a record. */
export function parseRecord(text: string): AuditRecord | undefined {
  try {
    const value = JSON.parse(text) as AuditRecord | null;
    return typeof value === 'object' && value !== null && value.version === 1 ? value : undefined;
  } catch {
    return undefined;
  }
}

export function toSignedHead({ store, lane, sequence, chain }: AuditHead) {
  return { store, lane, sequence, chain: Buffer.from(chain).toString('hex') };
}
