import { z } from '@hono/zod-openapi';
import { AUDIT_LIMITS } from '../../domain/audit-record.ts';
import type { Policy } from '../../domain/policy.ts';

/** The form of a policy file; see docs/policy.md. Checked by the same code, and told in the same words, as `sallyport policy set`. */
export const policyBodySchema = z
  .record(z.string(), z.unknown())
  .openapi({ type: 'object', additionalProperties: true, description: 'As a policy file has it.' });

export const policyRecordSchema = z
  .strictObject({
    version: z.int(),
    policy: z.custom<Policy>().openapi({ type: 'object', additionalProperties: true }),
  })
  .meta({ id: 'PolicyRecord' });

/** Why; goes into the audit record. */
const auditComment = z.string().min(1).max(AUDIT_LIMITS.commentLength).optional();

export const setPolicySchema = z
  .strictObject({ expectedVersion: z.int().min(0), policy: policyBodySchema, comment: auditComment })
  .meta({ id: 'SetPolicy' });
export const policySetSchema = z
  .strictObject({
    version: z.int(),
    warnings: z.array(z.string()),
    /** Parts of the policy before that stay, because the new one does not speak of them. */
    kept: z.array(z.string()),
  })
  .meta({ id: 'PolicySet' });

const pausedSchema = z
  .strictObject({
    all: z.boolean().optional(),
    agents: z.array(z.string()).readonly().optional(),
    tools: z.array(z.string()).readonly().optional(),
  })
  .meta({ id: 'Paused' });

export const pauseRequestSchema = z
  .strictObject({
    what: z.enum(['all', 'agent', 'tool']),
    /** Of the agent; `module.tool` or `module.*`. Not with `all`. */
    name: z.string().min(1).max(256).optional(),
    /** Take it back. */
    resume: z.boolean().optional(),
    comment: auditComment,
  })
  .meta({ id: 'PauseRequest' });
export const pauseAnswerSchema = z
  .strictObject({ version: z.int(), changed: z.boolean(), paused: pausedSchema, warnings: z.array(z.string()) })
  .meta({ id: 'PauseAnswer' });
