import { z } from '@hono/zod-openapi';

/** Every answer that is no success, as `application/problem+json`. */
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
  })
  .meta({ id: 'Problem' });
export type ProblemView = z.infer<typeof problemSchema>;
