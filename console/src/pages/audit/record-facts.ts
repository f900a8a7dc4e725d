import type { AuditRecordView } from '../../../../src/gateway/api/audit-schema.ts';

/** A record with its payload, which may be erased, and its link in the chain. */
export type ShownRecord = AuditRecordView;

export function recordKey({ store, lane, sequence }: ShownRecord): string {
  return `${store} ${lane} ${sequence}`;
}

/** The subject of a record. Empty for a record about the deployment, which has no subject. */
export function subjectOf({ tenant, subject = '' }: ShownRecord): string {
  return tenant === undefined || tenant === 'default' ? subject : `${tenant}/${subject}`;
}

export interface Fact {
  readonly name: string;
  readonly value: string;
  /** The page that shows more about it. */
  readonly href?: string;
}

type Names = Readonly<Partial<Record<keyof ShownRecord, string>>>;

const WHAT: Names = {
  event: 'Event',
  outcome: 'Ended',
  executed: 'Ran',
  code: 'Code',
  durationMs: 'With the worker, ms',
  gateMs: 'Of it before the gate, ms',
  decision: 'Decision',
  resolution: 'Resolution',
  by: 'By',
  via: 'Through',
  bearer: 'Proved by token',
  token: 'Token',
  tokenName: 'Name of the token',
  scopes: 'Scopes',
  changed: 'Changed',
  sessions: 'Sessions ended',
  delegatedBy: 'Delegated by session',
  tool: 'Tool',
  agent: 'Agent',
  subject: 'Subject',
  tenant: 'Tenant',
  channel: 'Channel',
  space: 'Space',
  platform: 'Platform',
  delegators: 'Acts for',
  unattended: 'Unattended',
  callId: 'Call',
  parent: 'Called by',
  approval: 'Approval',
  grant: 'Grant',
  session: 'Session',
  run: 'Run',
};
const WHY: Names = {
  permission: 'Permission',
  rule: 'Rule',
  hook: 'Hook',
  detector: 'Loop detector',
  askers: 'Asked by',
  changedBy: 'Arguments changed by',
  resultChangedBy: 'Result changed by',
  policyVersion: 'Policy version',
  claimedBy: 'Worker',
};
const PROOF: Names = {
  store: 'Store',
  lane: 'Lane',
  sequence: 'Number in its lane',
  chain: 'Chain',
  bodyDigest: 'Digest of tool and arguments',
  effectiveDigest: 'Digest of what ran',
  editedDigest: 'Digest of the edited arguments',
  ownResultDigest: 'Digest of what the tool gave',
  resultDigest: 'Digest of the settled result',
  toolDigest: 'Digest of the tool',
  payloadDigest: 'Digest of the payload',
  binding: 'Binding',
  policyDigest: 'Digest of the policy',
  previousDigest: 'Digest of the policy before',
};

const SHOWN_ELSEWHERE = new Set(['version', 'at', 'arguments', 'detail', 'comment', 'erased']);

export interface FactGroup {
  readonly title: string;
  readonly facts: readonly Fact[];
}

/** Groups everything that the record says. Fields that this console does not know yet come last, under their own names. */
export function groupFacts(record: ShownRecord): FactGroup[] {
  const known = { ...WHAT, ...WHY, ...PROOF };
  const others = Object.keys(record).filter((name) => !(name in known) && !SHOWN_ELSEWHERE.has(name));
  return [
    { title: 'What happened', facts: listFacts(record, WHAT) },
    { title: 'Why', facts: listFacts(record, WHY) },
    { title: 'Proof', facts: listFacts(record, PROOF) },
    { title: 'Also', facts: listFacts(record, Object.fromEntries(others.map((name) => [name, name]))) },
  ].filter(({ facts }) => facts.length > 0);
}

function listFacts(record: ShownRecord, names: Names): Fact[] {
  return Object.entries(names).flatMap(([name, title]) => {
    const value: unknown = record[name as keyof ShownRecord];
    if (value === undefined) return [];
    const href = hrefOf(name, value);
    return [{ name: title, value: textOf(value), ...(href === undefined ? {} : { href }) }];
  });
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function hrefOf(name: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (name === 'callId' || name === 'parent') return `/console/calls/${encodeURIComponent(value)}`;
  return name === 'approval' ? `/console/approvals/${encodeURIComponent(value)}` : undefined;
}

/** The reason in one line, as `sallyport audit query` prints it. */
export function whyOf(record: ShownRecord): string {
  const { code, rule, hook, grant, approval, decision, by, resolution, parent, detail, comment, erased } = record;
  const { resultChangedBy } = record;
  const parts = [
    ...(record.callId === undefined ? administrationOf(record) : []),
    code,
    rule && `rule ${rule}`,
    hook && `hook ${hook}`,
    resultChangedBy && `result changed by ${resultChangedBy.join(', ')}`,
    grant && `grant ${grant}`,
    decision,
    by && `by ${by}`,
    resolution,
    approval && `approval ${approval}`,
    parent && `called by ${parent}`,
    detail,
    comment,
    erased && 'erased',
  ];
  return parts.filter(Boolean).join('; ');
}

function administrationOf({ policyVersion, changed, token, tokenName, session, sessions = 1 }: ShownRecord) {
  return [
    policyVersion !== undefined && `policy version ${policyVersion}`,
    changed?.join(', '),
    token && `token ${tokenName ?? ''} (${token})`,
    session && `session ${session}`,
    sessions > 1 && `with ${sessions - 1} delegated`,
  ];
}
