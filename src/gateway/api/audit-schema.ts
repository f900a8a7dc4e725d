import { z } from '@hono/zod-openapi';
import { AUDIT_EVENTS } from '../../domain/audit/audit-record.ts';
import { OUTCOME_KINDS } from '../../domain/outcome/outcome.ts';
import { EXECUTED } from './outcome-schema.ts';
import { cursorQuery, limitQuery, moment, momentQuery, nameText, pageOf } from './page-schema.ts';

/** One record of the trail with its payload and its chain link, as `sallyport audit query --json` shows it. */
export const auditRecordSchema = z
  .object({
    version: z.literal(1),
    store: z.string(),
    lane: z.int(),
    sequence: z.int(),
    at: moment,
    event: z.enum(AUDIT_EVENTS),
    /**
     * Call, tool and digest are absent from an administrative record. Session and identity are absent if the record is not about a session.
     */
    callId: z.string().optional(),
    session: z.string().optional(),
    run: z.string().optional(),
    tool: z.string().optional(),
    tenant: z.string().optional(),
    subject: z.string().optional(),
    agent: z.string().optional(),
    channel: z.string().optional(),
    space: z.string().optional(),
    platform: z.string().optional(),
    delegators: z.array(z.string()).readonly().optional(),
    unattended: z.literal(true).optional(),
    bodyDigest: z.string().optional(),
    payloadDigest: z.string(),
    approval: z.string().optional(),
    grant: z.string().optional(),
    parent: z.string().optional(),
    toolDigest: z.string().optional(),
    effectiveDigest: z.string().optional(),
    permission: z.string().optional(),
    policyVersion: z.int().optional(),
    rule: z.string().optional(),
    hook: z.string().optional(),
    changedBy: z.array(z.string()).readonly().optional(),
    resultChangedBy: z.array(z.string()).readonly().optional(),
    ownResultDigest: z.string().optional(),
    resultDigest: z.string().optional(),
    detector: z.string().optional(),
    by: z.string().optional(),
    binding: z.string().optional(),
    askers: z.array(z.string()).readonly().optional(),
    decision: z.string().optional(),
    editedDigest: z.string().optional(),
    resolution: z.string().optional(),
    claimedBy: z.string().optional(),
    outcome: z.enum(OUTCOME_KINDS).optional(),
    executed: z.enum(EXECUTED).optional(),
    code: z.string().optional(),
    durationMs: z.number().optional(),
    gateMs: z.number().optional(),
    /** In an administrative record: through which surface the change came, and the id of the token that proved the actor. */
    via: z.string().optional(),
    bearer: z.string().optional(),
    changed: z.array(z.string()).readonly().optional(),
    policyDigest: z.string().optional(),
    previousDigest: z.string().optional(),
    token: z.string().optional(),
    tokenName: z.string().optional(),
    scopes: z.array(z.string()).readonly().optional(),
    expiresAt: z.int().optional(),
    delegatedBy: z.string().optional(),
    sessions: z.int().optional(),
    /** Canonical JSON. Secrets are masked, and long text is cut. */
    arguments: z.string().optional(),
    detail: z.string().optional(),
    comment: z.string().optional(),
    chain: z.string(),
    /** The payload was erased on purpose. */
    erased: z.literal(true).optional(),
  })
  .meta({ id: 'AuditRecord' });
export type AuditRecordView = z.infer<typeof auditRecordSchema>;

export const auditPageSchema = pageOf(auditRecordSchema).meta({ id: 'AuditPage' });

export const auditQuery = z.strictObject({
  from: momentQuery,
  to: momentQuery,
  tenant: nameText.optional(),
  subject: nameText.optional(),
  agent: nameText.optional(),
  tool: nameText.optional(),
  event: z.enum(AUDIT_EVENTS).optional(),
  outcome: z.enum(['not-ok', ...OUTCOME_KINDS]).optional(),
  callId: z.string().min(1).max(256).optional(),
  by: z.string().min(1).max(512).optional(),
  limit: limitQuery,
  cursor: cursorQuery,
});

export const verificationSchema = z
  .strictObject({
    state: z.enum(['never', 'running', 'ok', 'bad']),
    /** When the last verification ended, or when the running one began. */
    at: moment.optional(),
    /** How many records had their chain link recomputed. */
    checked: z.int(),
    statements: z.int().optional(),
    /**
     * Records that were lost, or that an operator has given up with a signed statement. This is not a fault, but people should know about
     * it.
     */
    notices: z.array(z.string()).optional(),
    problems: z.array(
      z.strictObject({
        store: z.string().optional(),
        lane: z.int().optional(),
        sequence: z.int().optional(),
        what: z.string(),
      }),
    ),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof verificationSchema>;
