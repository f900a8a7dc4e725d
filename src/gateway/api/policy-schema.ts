import { z } from '@hono/zod-openapi';
import { AUDIT_LIMITS } from '../../domain/audit/audit-record.ts';
import type { Policy } from '../../domain/policy/policy.ts';

/**
 * A policy in the form of a policy file; see docs/policy.md. It is checked by the same code as in `sallyport policy set`, with the same
 * messages.
 */
export const policyBodySchema = z
  .record(z.string(), z.unknown())
  .openapi({ type: 'object', additionalProperties: true, description: 'As a policy file has it.' });

export const policyRecordSchema = z
  .strictObject({
    version: z.int(),
    policy: z.custom<Policy>().openapi({ type: 'object', additionalProperties: true }),
  })
  .meta({ id: 'PolicyRecord' });

/** The reason for the change; it goes into the audit record. */
const auditComment = z.string().min(1).max(AUDIT_LIMITS.commentLength).optional();

export const setPolicySchema = z
  .strictObject({ expectedVersion: z.int().min(0), policy: policyBodySchema, comment: auditComment })
  .meta({ id: 'SetPolicy' });
export const policySetSchema = z
  .strictObject({
    version: z.int(),
    warnings: z.array(z.string()),
    /** Parts of the previous policy that stay, because the new one does not mention them. */
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
    /** The name of the agent, or `module.tool` or `module.*`. Not with `all`. */
    name: z.string().min(1).max(256).optional(),
    /** True resumes instead of pausing. */
    resume: z.boolean().optional(),
    comment: auditComment,
  })
  .meta({ id: 'PauseRequest' });
export const pauseAnswerSchema = z
  .strictObject({ version: z.int(), changed: z.boolean(), paused: pausedSchema, warnings: z.array(z.string()) })
  .meta({ id: 'PauseAnswer' });
