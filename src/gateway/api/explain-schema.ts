import { z } from '@hono/zod-openapi';
import { CHECKS } from '../../domain/policy/explain-call.ts';
import { servingSchema } from './catalog-schema.ts';
import { cursorQuery, identitySchema, limitQuery, nameText, pageOf } from './page-schema.ts';

export const explainRequestSchema = z
  .strictObject({
    tenant: nameText.optional(),
    subject: nameText,
    agent: nameText,
    tool: z.string().min(1).max(256),
    arguments: z.record(z.string(), z.unknown()).optional(),
    /** Explain the call as if it were made in an unattended session or run. */
    unattended: z.boolean().optional(),
  })
  .meta({ id: 'ExplainRequest' });

const RULED = ['allow', 'ask', 'deny', 'depends'] as const;

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
        /** The line in the policy file. */
        place: z.string().optional(),
      }),
    ),
    /** The smallest set of policy changes that together would let the call through. */
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
    /** Whether a live worker serves the tool. Absent if the tool is not published. */
    serving: servingSchema.optional(),
  })
  .meta({ id: 'Explanation' });
export type ExplanationView = z.infer<typeof explanationSchema>;

/** Max cells on a page of the matrix. A page has at least one tool, even if that is more cells. */
export const MATRIX_CELLS = 5000;

export const matrixCellSchema = z.strictObject({
  verdict: z.enum(RULED),
  decidedBy: z.enum(CHECKS),
  found: z.string(),
});
export type MatrixCell = z.infer<typeof matrixCellSchema>;

const matrixRowSchema = z
  .strictObject({
    tool: z.string(),
    /** One cell for each of the page's `agents`, in the same order. */
    cells: z.array(matrixCellSchema),
  })
  .meta({ id: 'MatrixRow' });

export const matrixPageSchema = pageOf(matrixRowSchema)
  .extend({
    tenant: z.string(),
    subject: z.string(),
    /** Pages with different policy versions do not fit together; the client must begin again. */
    policyVersion: z.int(),
    /**
     * The declared agents, or the agents of recent sessions if none are declared. The agents of recent sessions may change between two
     * pages, and with them the order of the cells. The client must then begin again.
     */
    agents: z.array(z.string()),
    /** The names of all tools, sorted like the rows. Only on the first page. */
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
