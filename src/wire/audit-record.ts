import { randomFillSync } from 'node:crypto';
import type { AdministrativeFacts, AuditHead, AuditRecord, ChainedRecord } from '../domain/audit-record.ts';
import type { Identity } from '../domain/session.ts';
import { readAuditDetail } from './audit-detail.ts';
import { sha256, sha256Bytes } from './digest.ts';

/** A store's part of a record, and the bytes of whoever made it. */
type Entry = Pick<AuditRecord, 'lane' | 'sequence' | 'at' | 'event'> & {
  readonly [Name in 'callId' | 'tool' | 'session' | 'run' | 'bodyDigest' | 'approval' | 'grant']?:
    | AuditRecord[Name]
    | undefined;
} & {
  readonly identity?: string | undefined;
  readonly detail: Uint8Array;
};

const SALT_BYTES = 16;
const SALTS_AT_ONCE = 256;
let salts = Buffer.alloc(0);

/** Many at once: asking the system for each would cost more than the rest of a record. */
function newSalt(): Uint8Array {
  if (salts.length < SALT_BYTES) salts = randomFillSync(Buffer.allocUnsafeSlow(SALT_BYTES * SALTS_AT_ONCE));
  const salt = Uint8Array.from(salts.subarray(0, SALT_BYTES));
  salts = salts.subarray(SALT_BYTES);
  return salt;
}

/** With a salt: whoever has only the record cannot try out what the payload may have been. */
export function payloadDigest(salt: Uint8Array, bytes: Uint8Array): string {
  return sha256(Buffer.concat([salt, bytes]));
}

/** What the first record of a lane is chained to: chains of other lanes and other stores cannot be put in its place. */
export function firstLink(store: string, lane: number): Uint8Array {
  return sha256Bytes(Buffer.from(`sallyport audit 1\n${store}\n${lane}\n`));
}

export function nextLink(previous: Uint8Array, text: string): Uint8Array {
  return sha256Bytes(Buffer.concat([previous, Buffer.from(text)]));
}

/** The record of an entry, chained to the one before. */
export function chainEntry(entry: Entry, store: string, previous: Uint8Array): ChainedRecord {
  const salt = newSalt();
  const digest = payloadDigest(salt, entry.detail);
  const text = JSON.stringify(
    entry.callId === undefined ? administrativeRecordOf(entry, store, digest) : recordOf(entry, store, digest),
  );
  return { text, chain: nextLink(previous, text), payload: { salt, bytes: entry.detail } };
}

/**
 * In sorted order, so that JSON writes it in its canonical form (RFC 8785: texts, whole numbers and lists of texts look the same there).
 * Written out, and not put together from parts: it is made for every call, and as an object of one shape it costs a tenth.
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

/** A record about no call, sorted for the same reason. A shape of its own, so that the records of calls do not grow by its fields. */
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

/** Bytes that a record takes, for bounds on the whole. */
export function sizeOfRecord({ text, payload }: ChainedRecord): number {
  return Buffer.byteLength(text) + (payload?.bytes.length ?? 0);
}

/** Nothing for a text that is no record. */
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
