import { z } from '@hono/zod-openapi';
import {
  APPROVAL_DECISIONS,
  APPROVAL_LIMITS,
  APPROVAL_STATES,
  RESOLUTIONS,
  SEVERITIES,
} from '../../domain/approval.ts';
import { cursorQuery, identitySchema, limitQuery, moment, pageOf } from './page-schema.ts';

const principal = z.strictObject({ kind: z.enum(['subject', 'operator']), name: z.string() });

/** Made here from the very bytes that would run; nobody else's words about them. */
export const shownArgumentsSchema = z
  .strictObject({
    /** JSON, a line per value; what is masked is shown as a mark with its length, what cannot be seen is spelled out. */
    shown: z.string(),
    bytes: z.int(),
    /** Absent while something is masked: a short secret could be found by trying digests. */
    digest: z.string().optional(),
    redacted: z.boolean(),
    /** Only in lists: so many characters are left out at the end of `shown`. One question alone shows all of it. */
    cut: z.int().min(1).optional(),
    /** Hooks that made them of the caller's. */
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
    /** For the approver's eyes only. */
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
    /** What the caller's person answered to the tool; it reaches the tool together with the arguments. */
    answers: shownArgumentsSchema.optional(),
    /** What the person who allowed it put in their place. */
    editedArguments: shownArgumentsSchema.optional(),
    /** A decision must name it. */
    binding: z.string(),
    /** Whether something is masked: a yes counts only from an approver who has revealed it. */
    masked: z.boolean(),
    /** Whether the bearer has revealed it. The text itself is in the answer to the reveal. */
    revealed: z.boolean(),
    /** Whether a decision may bring other arguments: all of them, since secrets among the shown ones are marked. */
    editable: z.boolean(),
    /** Whether whoever asks may decide it; a requester may only look. */
    mayDecide: z.boolean(),
    grant: z.string().optional(),
    identity: identitySchema,
  })
  .meta({ id: 'Approval' });
export type ApprovalView = z.infer<typeof approvalSchema>;

/** A question in a list. One of which something is left out has no binding: nobody can decide what they have not seen. */
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

export const grantWishSchema = z
  .strictObject({
    /** These arguments, whatever they are, or those for which all conditions hold. */
    matches: z.union([
      z.enum(['exact', 'any']),
      z.strictObject({ conditions: z.array(z.record(z.string(), z.unknown())).min(1).max(32) }),
    ]),
    /** Only for the agent that asked; so unless it says false. */
    agentOnly: z.boolean().optional(),
    lifetimeMs: z.int().min(1).max(APPROVAL_LIMITS.maxGrantMs).optional(),
    uses: z.int().min(1).max(1_000_000).optional(),
  })
  .meta({ id: 'GrantOptions' });

/** Longer than what is kept of it, so that a person's text is cut and not refused; a flood is. */
const MAX_COMMENT_LENGTH = 10_000;

export const decideRequestSchema = z
  .strictObject({
    decision: z.enum(APPROVAL_DECISIONS),
    binding: z.string().min(1).max(128),
    comment: z.string().max(MAX_COMMENT_LENGTH).optional(),
    /** Run these instead: all of them, not a patch. */
    arguments: z.record(z.string(), z.unknown()).optional(),
    /** Only with `allow-always`. */
    grant: grantWishSchema.optional(),
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
    /** So many more must say yes. */
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
