import { z } from '@hono/zod-openapi';
import {
  APPROVAL_DECISIONS,
  APPROVAL_LIMITS,
  APPROVAL_STATES,
  RESOLUTIONS,
  SEVERITIES,
} from '../../domain/policy/approval.ts';
import { cursorQuery, identitySchema, limitQuery, moment, pageOf } from './page-schema.ts';

const principal = z.strictObject({ kind: z.enum(['subject', 'operator']), name: z.string() });

/**
 * Arguments as an approver sees them. The gateway makes this text from the exact bytes that would run, so no caller or tool can choose its
 * wording.
 */
export const shownArgumentsSchema = z
  .strictObject({
    /** JSON with one line per value. A masked value is shown as a mark with its length. Invisible characters are spelled out. */
    shown: z.string(),
    bytes: z.int(),
    /** Absent while something is masked: a short secret could be found by trying digests. */
    digest: z.string().optional(),
    redacted: z.boolean(),
    /** Only in lists: how many characters are left out at the end of `shown`. A question that is read on its own shows all of it. */
    cut: z.int().min(1).optional(),
    /** Hooks that changed the caller's arguments into these. */
    changedBy: z.array(z.string()).optional(),
  })
  .meta({ id: 'ShownArguments' });
export type ShownArguments = z.infer<typeof shownArgumentsSchema>;

export const approvalSchema = z
  .strictObject({
    id: z.string(),
    callId: z.string(),
    state: z.enum(APPROVAL_STATES),
    tool: z.string(),
    toolDigest: z.string(),
    agent: z.string(),
    subject: z.string(),
    tenant: z.string(),
    session: z.string(),
    run: z.string(),
    title: z.string(),
    description: z.string(),
    reasons: z.array(z.string()),
    severity: z.enum(SEVERITIES),
    askers: z.array(z.strictObject({ kind: z.enum(['rule', 'hook']), id: z.string(), grantable: z.boolean() })),
    /** Only approvers see it. */
    detail: z.string().optional(),
    decisions: z.array(z.enum(APPROVAL_DECISIONS)),
    quorum: z.int(),
    votes: z.array(
      z.strictObject({
        by: principal,
        decision: z.enum(APPROVAL_DECISIONS),
        at: moment,
        comment: z.string().optional(),
      }),
    ),
    requestedAt: moment,
    expiresAt: moment,
    resolvedAt: moment.optional(),
    resolution: z.enum(RESOLUTIONS).optional(),
    arguments: shownArgumentsSchema,
    /** What the person at the caller's side answered to the tool's questions. The tool gets it together with the arguments. */
    answers: shownArgumentsSchema.optional(),
    /** The arguments that the approver put in place of `arguments`. */
    editedArguments: shownArgumentsSchema.optional(),
    /** A decision must send this value, so that it counts only for what was shown. */
    binding: z.string(),
    /** Whether something is masked. An approver can then allow the call only after revealing the question. */
    masked: z.boolean(),
    /** Whether this bearer has revealed the question. The revealed text itself is in the answer to the reveal request. */
    revealed: z.boolean(),
    /**
     * Whether a decision may contain edited arguments. It must then contain all of them, because the secrets in the shown ones are masked.
     */
    editable: z.boolean(),
    /** Whether this bearer may decide the question. A requester may only look at it. */
    mayDecide: z.boolean(),
    grant: z.string().optional(),
    identity: identitySchema,
  })
  .meta({ id: 'Approval' });
export type ApprovalView = z.infer<typeof approvalSchema>;

/** A question in a list. If something is left out of it, it has no binding: an approver cannot decide what was not shown. */
export const listedApprovalSchema = approvalSchema
  .extend({ binding: z.string().optional() })
  .meta({ id: 'ListedApproval' });
export type ListedApprovalView = z.infer<typeof listedApprovalSchema>;

export const approvalPageSchema = pageOf(listedApprovalSchema).meta({ id: 'ApprovalPage' });

export const approvalListQuery = z.strictObject({
  state: z.enum(APPROVAL_STATES).optional(),
  limit: limitQuery,
  cursor: cursorQuery,
});

const grantOptionsSchema = z
  .strictObject({
    /** `exact`: only these arguments. `any`: all arguments. Or only arguments for which all conditions hold. */
    matches: z.union([
      z.enum(['exact', 'any']),
      z.strictObject({ conditions: z.array(z.record(z.string(), z.unknown())).min(1).max(32) }),
    ]),
    /** Whether the grant is only for the agent that asked. Default: true. */
    agentOnly: z.boolean().optional(),
    lifetimeMs: z.int().min(1).max(APPROVAL_LIMITS.maxGrantMs).optional(),
    uses: z.int().min(1).max(1_000_000).optional(),
  })
  .meta({ id: 'GrantOptions' });

/**
 * Greater than the length of a stored comment: a person's comment that is too long is cut, not refused. Only much longer text is refused.
 */
const MAX_COMMENT_LENGTH = 10_000;

export const decideRequestSchema = z
  .strictObject({
    decision: z.enum(APPROVAL_DECISIONS),
    binding: z.string().min(1).max(128),
    comment: z.string().max(MAX_COMMENT_LENGTH).optional(),
    /** Arguments to run instead: all of them, not a patch. */
    arguments: z.record(z.string(), z.unknown()).optional(),
    /** Only with `allow-always`. */
    grant: grantOptionsSchema.optional(),
  })
  .meta({ id: 'DecideRequest' });
export type DecideBody = z.infer<typeof decideRequestSchema>;

export const revealRequestSchema = z
  .strictObject({ binding: z.string().min(1).max(128) })
  .meta({ id: 'RevealRequest' });

export const decideAnswerSchema = z
  .strictObject({
    id: z.string(),
    state: z.enum(APPROVAL_STATES),
    /** How many more approvers must say yes. */
    missing: z.int().optional(),
    grant: z.string().optional(),
  })
  .meta({ id: 'DecideAnswer' });
export type DecideAnswerView = z.infer<typeof decideAnswerSchema>;

export const grantSchema = z
  .strictObject({
    id: z.string(),
    tenant: z.string(),
    subject: z.string(),
    agent: z.string().optional(),
    tool: z.string(),
    toolDigest: z.string(),
    matches: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('exact') }),
      z.strictObject({ kind: z.literal('any') }),
      z.strictObject({ kind: z.literal('conditions'), conditions: z.array(z.record(z.string(), z.unknown())) }),
    ]),
    approval: z.string(),
    by: principal,
    createdAt: moment,
    expiresAt: moment,
    usesLeft: z.int().optional(),
    revoked: z.boolean(),
  })
  .meta({ id: 'Grant' });
export type GrantView = z.infer<typeof grantSchema>;
export const grantPageSchema = pageOf(grantSchema).meta({ id: 'GrantPage' });
