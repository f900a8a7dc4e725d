import { z } from '@hono/zod-openapi';
import { OUTCOME_KINDS } from '../../domain/outcome/outcome.ts';
import { EXECUTED } from './outcome-schema.ts';

/** The body of every error response, as `application/problem+json`. */
export const problemSchema = z
  .object({
    type: z.string().openapi({ example: '/errors#CALL_UNKNOWN' }),
    title: z.string(),
    status: z.int(),
    code: z.string().openapi({ example: 'CALL_UNKNOWN' }),
    detail: z.string(),
    fix: z.string().optional(),
    facts: z.record(z.string(), z.unknown()).optional(),
    retryAfterMs: z.number().optional(),
    outcome: z
      .object({
        kind: z.enum(OUTCOME_KINDS),
        executed: z.enum(EXECUTED),
        retryable: z.boolean(),
        advice: z.string().optional(),
      })
      .optional()
      .openapi({ description: 'Only for a call that was refused: how it ended, in the words of an outcome.' }),
  })
  .meta({ id: 'Problem' });
export type ProblemView = z.infer<typeof problemSchema>;
