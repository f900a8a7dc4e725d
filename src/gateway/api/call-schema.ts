import { z } from '@hono/zod-openapi';
import { CALL_STATES, LIMITS } from '../../domain/call/call.ts';
import { OUTCOME_FILTERS } from '../../domain/call/call-filter.ts';
import { OUTCOME_KINDS } from '../../domain/outcome/outcome.ts';
import { STAGES } from '../../domain/call/stages.ts';
import { EFFECTS } from '../../domain/tool/tool.ts';
import { approvalSchema } from './approval-schema.ts';
import { auditRecordSchema } from './audit-schema.ts';
import { EXECUTED, fileSchema, outcomeSchema } from './outcome-schema.ts';
import { cursorQuery, identitySchema, limitQuery, moment, momentQuery, nameText, pageOf } from './page-schema.ts';

/** A call as one line of a list. */
export const callRowSchema = z
  .strictObject({
    callId: z.string(),
    tool: z.string(),
    agent: z.string(),
    subject: z.string(),
    tenant: z.string(),
    session: z.string(),
    run: z.string(),
    state: z.enum(CALL_STATES),
    outcome: z.enum(OUTCOME_KINDS).optional(),
    code: z.string().optional(),
    executed: z.enum(EXECUTED).optional(),
    /** When the store accepted the call. Absent for a settled call whose record the store no longer keeps. */
    acceptedAt: moment.optional(),
    settledAt: moment.optional(),
    deadline: moment.optional(),
    totalMs: z.number().optional().openapi({
      description:
        'Accepted → settled, with all waiting. Absent while it goes on, and where only the audit knows the call.',
    }),
    ranMs: z.number().optional().openapi({ description: 'How long the tool ran. Absent when it did not run.' }),
    durationMs: z.number().optional().openapi({
      description: 'From the delivery to a worker until the outcome: the checks and the run of the tool.',
    }),
    approval: z.string().optional(),
    grant: z.string().optional(),
    detector: z.string().optional(),
    rule: z.string().optional(),
    parent: z.string().optional(),
    cancelRequested: z.boolean().optional(),
  })
  .meta({ id: 'CallRow' });
export type CallRow = z.infer<typeof callRowSchema>;

export const callPageSchema = pageOf(callRowSchema).meta({ id: 'CallPage' });
export type CallPage = z.infer<typeof callPageSchema>;

/** `live`: every state but settled. */
const CALL_LIST_STATES = [...CALL_STATES, 'live'] as const;

export const callListQuery = z.strictObject({
  state: z.enum(CALL_LIST_STATES).optional(),
  tool: nameText.optional(),
  agent: nameText.optional(),
  subject: nameText.optional(),
  tenant: nameText.optional(),
  run: nameText.optional(),
  outcome: z
    .enum(OUTCOME_FILTERS)
    .optional()
    .openapi({ description: '`refused`: denied or blocked. `errors`: neither ok nor refused nor cancelled.' }),
  text: nameText.optional().openapi({
    description:
      'Part of the name of a tool, agent, subject, tenant, rule, detector or error code, in any case; or the beginning or the end of the id of a call, run, session, approval or grant.',
  }),
  from: momentQuery,
  to: momentQuery,
  limit: limitQuery,
  cursor: cursorQuery,
});
export type CallListQuery = z.infer<typeof callListQuery>;

export const stageSchema = z
  .strictObject({
    stage: z.enum(STAGES),
    startedAt: moment.optional(),
    endedAt: moment.optional(),
    durationMs: z.number().optional(),
    /** The result of the stage, in a word or a sentence. */
    result: z.string().optional(),
  })
  .meta({ id: 'StageView' });
export type StageView = z.infer<typeof stageSchema>;

/** One check that let the call through or stopped it. A call lists its checks in the order in which they decided. */
export const verdictSchema = z
  .strictObject({
    by: z.enum(['permission', 'rule', 'hook', 'loop', 'grant', 'approval']),
    id: z.string().optional(),
    decision: z.string(),
    reason: z.string().optional(),
  })
  .meta({ id: 'VerdictPart' });
export type VerdictPart = z.infer<typeof verdictSchema>;

export const callDetailSchema = z
  .strictObject({
    call: callRowSchema.extend({
      identity: identitySchema,
      pool: z.string().optional(),
      effect: z.enum(EFFECTS).optional(),
      bodyDigest: z.string(),
      toolDigest: z.string().optional(),
      starts: z.int().optional(),
      waiters: z.int().optional(),
      resolution: z.enum(['ran', 'not-ran']).optional(),
      policyVersion: z.int().optional(),
      /**
       * Redacted, and shortened if the audit stored them shortened. Absent after they were erased, and while the call runs unless a person
       * was asked about it.
       */
      arguments: z.string().optional(),
    }),
    outcome: outcomeSchema.optional(),
    stages: z.array(stageSchema),
    verdict: z.array(verdictSchema),
    attempts: z.array(
      z.strictObject({
        number: z.int(),
        startedAt: moment.optional(),
        /** How long the tool ran. */
        durationMs: z.number().optional(),
        ended: z.string().optional(),
      }),
    ),
    audit: z.array(auditRecordSchema),
    approvals: z.array(approvalSchema),
    parent: z.string().optional(),
    children: z.array(callRowSchema),
    files: z.array(fileSchema),
  })
  .meta({ id: 'CallDetail' });
export type CallDetail = z.infer<typeof callDetailSchema>;

export const callRequestSchema = z
  .strictObject({
    tool: z.string().min(1).max(256),
    arguments: z.record(z.string(), z.unknown()).openapi({ type: 'object', additionalProperties: true }),
    /** The time until the deadline of the call, counted from its acceptance. */
    deadlineMs: z.int().min(1).max(LIMITS.maxDeadlineMs).optional(),
    /** How long to wait for the outcome before the answer is `pending`. */
    waitMs: z.int().min(0).max(25_000).optional(),
    /** Facts such as display name or message id. They reach the tool marked as untrusted. */
    untrusted: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'CallRequest' });

export const settledCallSchema = z
  .strictObject({ callId: z.string(), state: z.literal('settled'), outcome: outcomeSchema })
  .meta({ id: 'SettledCall' });
export const pendingCallSchema = z
  .strictObject({ callId: z.string(), state: z.literal('pending'), approval: z.string().optional() })
  .meta({ id: 'PendingCall' });
export const callAnswerSchema = z
  .discriminatedUnion('state', [settledCallSchema, pendingCallSchema])
  .meta({ id: 'CallAnswer' });
export type CallAnswerView = z.infer<typeof callAnswerSchema>;

export const cancelAnswerSchema = z
  .strictObject({ callId: z.string(), answer: z.enum(['cancelled', 'cancelling', 'settled']) })
  .meta({ id: 'CancelAnswer' });

export const resolveRequestSchema = z.strictObject({ ran: z.boolean() }).meta({ id: 'ResolveRequest' });
export const resolveAnswerSchema = z
  .strictObject({ callId: z.string(), resolution: z.enum(['ran', 'not-ran']) })
  .meta({ id: 'ResolveAnswer' });
