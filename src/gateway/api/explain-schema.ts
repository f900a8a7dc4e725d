import { z } from '@hono/zod-openapi';
import { CHECKS } from '../../domain/explain-call.ts';
import { identitySchema, nameText } from './page-schema.ts';

export const explainRequestSchema = z
  .strictObject({
    tenant: nameText.optional(),
    subject: nameText,
    agent: nameText,
    tool: z.string().min(1).max(256),
    arguments: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ExplainRequest' });

export const RULED = ['allow', 'ask', 'deny', 'depends'] as const;

export const explanationSchema = z
  .strictObject({
    tool: z.string(),
    identity: identitySchema,
    policyVersion: z.int(),
    allowed: z.boolean(),
    verdict: z.enum(RULED),
    decidedBy: z.enum(CHECKS),
    checks: z.array(
      z.strictObject({
        check: z.enum(CHECKS),
        passes: z.boolean(),
        found: z.string(),
        rule: z.array(z.string()).readonly().optional(),
        /** Line of the policy file. */
        place: z.string().optional(),
      }),
    ),
    /** The smallest changes of the policy that, all together, let the call through. */
    changes: z.array(
      z.looseObject({
        kind: z.string(),
        command: z.string().optional(),
        edit: z.string().optional(),
        snippet: z.record(z.string(), z.unknown()).optional(),
        note: z.string().optional(),
      }),
    ),
    near: z.array(z.string()),
  })
  .meta({ id: 'Explanation' });
export type ExplanationView = z.infer<typeof explanationSchema>;

export const MATRIX_LIMITS = Object.freeze({ agents: 200, tools: 2000 });

export const matrixCellSchema = z.strictObject({
  verdict: z.enum(RULED),
  decidedBy: z.enum(CHECKS),
  found: z.string(),
});
export type MatrixCell = z.infer<typeof matrixCellSchema>;

export const matrixSchema = z
  .strictObject({
    tenant: z.string(),
    subject: z.string(),
    policyVersion: z.int(),
    agents: z.array(z.string()),
    tools: z.array(z.string()),
    /** Agent, then tool. */
    cells: z.record(z.string(), z.record(z.string(), matrixCellSchema)),
    /** There are more agents or tools than are shown. */
    cut: z.strictObject({ agents: z.int(), tools: z.int() }).optional(),
  })
  .meta({ id: 'Matrix' });
export type MatrixView = z.infer<typeof matrixSchema>;

export const matrixQuery = z.strictObject({ tenant: nameText.optional(), subject: nameText.optional() });
