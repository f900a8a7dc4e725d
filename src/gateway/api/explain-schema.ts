import { z } from '@hono/zod-openapi';
import { CHECKS } from '../../domain/explain-call.ts';
import { servingSchema } from './catalog-schema.ts';
import { cursorQuery, identitySchema, limitQuery, nameText, pageOf } from './page-schema.ts';

export const explainRequestSchema = z
  .strictObject({
    tenant: nameText.optional(),
    subject: nameText,
    agent: nameText,
    tool: z.string().min(1).max(256),
    arguments: z.record(z.string(), z.unknown()).optional(),
    /** As in an unattended session or run. */
    unattended: z.boolean().optional(),
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
    /** Whether a live worker is there to run it. Absent: it is not published. */
    serving: servingSchema.optional(),
  })
  .meta({ id: 'Explanation' });
export type ExplanationView = z.infer<typeof explanationSchema>;

/** A page of the matrix: so many cells at most, and one tool at least. */
export const MATRIX_CELLS = 5000;

export const matrixCellSchema = z.strictObject({
  verdict: z.enum(RULED),
  decidedBy: z.enum(CHECKS),
  found: z.string(),
});
export type MatrixCell = z.infer<typeof matrixCellSchema>;

export const matrixRowSchema = z
  .strictObject({
    tool: z.string(),
    /** One for each of the page's `agents`, in their order. */
    cells: z.array(matrixCellSchema),
  })
  .meta({ id: 'MatrixRow' });

export const matrixPageSchema = pageOf(matrixRowSchema)
  .extend({
    tenant: z.string(),
    subject: z.string(),
    /** Pages with different versions do not belong together: begin again. */
    policyVersion: z.int(),
    /** Where none are declared, those of recent sessions: they may differ between pages, and so may the order of the cells. Begin again then. */
    agents: z.array(z.string()),
    /** The names of all tools, by name as the rows are. On the first page only. */
    tools: z.array(z.string()).optional(),
  })
  .meta({ id: 'MatrixPage' });
export type MatrixPage = z.infer<typeof matrixPageSchema>;

export const matrixQuery = z.strictObject({
  tenant: nameText.optional(),
  subject: nameText.optional(),
  limit: limitQuery,
  cursor: cursorQuery,
});
export type MatrixQuery = z.infer<typeof matrixQuery>;
