import { z } from '@hono/zod-openapi';
import { AUDIT_LIMITS } from '../../domain/audit/audit-record.ts';
import { SERVING_STATES } from '../../domain/tool/serving.ts';
import { EFFECTS } from '../../domain/tool/tool.ts';

const jsonSchema = z.record(z.string(), z.unknown());

export const toolSchema = z
  .strictObject({
    id: z.string(),
    description: z.string(),
    effect: z.enum(EFFECTS),
    privileged: z.boolean(),
    serial: z.boolean(),
    pinned: z.literal('caller').optional(),
    /** If present, this is not a tool but a resource or a prompt. */
    surface: z.record(z.string(), z.unknown()).optional(),
    inputSchema: jsonSchema,
    outputSchema: jsonSchema.optional(),
    digest: z.string(),
  })
  .meta({ id: 'Tool' });
export type ToolView = z.infer<typeof toolSchema>;

/** Whether live workers serve a published module. `pinned`: its tools run in the processes of their callers. */
export const servingSchema = z
  .strictObject({ state: z.enum(SERVING_STATES), liveWorkers: z.int() })
  .meta({ id: 'Serving' });

export const catalogSchema = z
  .strictObject({
    digest: z.string(),
    sequence: z.int(),
    modules: z.array(
      z.strictObject({
        id: z.string(),
        description: z.string(),
        version: z.string(),
        pool: z.string(),
        digest: z.string(),
        serving: servingSchema,
        tools: z.array(toolSchema),
      }),
    ),
  })
  .meta({ id: 'Catalog' });
export type CatalogView = z.infer<typeof catalogSchema>;

export const toolkitSchema = z
  .strictObject({
    digest: z.string(),
    tools: z.array(toolSchema),
    missing: z.array(z.record(z.string(), z.unknown())),
    /** Tools of this toolkit that are published, but that no live worker serves now. */
    unserved: z.array(z.string()),
  })
  .meta({ id: 'Toolkit' });
export type ToolkitView = z.infer<typeof toolkitSchema>;

export const withdrawRequestSchema = z
  .strictObject({
    /** Ids of modules, or `unserved` for all modules that no live worker serves. */
    modules: z.union([z.array(z.string().min(1).max(256)).min(1).max(1000), z.literal('unserved')]),
    /** Withdraw modules even if a live worker serves them. The worker publishes them again at its next start. */
    force: z.boolean().optional(),
    comment: z.string().min(1).max(AUDIT_LIMITS.commentLength).optional(),
  })
  .meta({ id: 'WithdrawRequest' });
export const withdrawalSchema = z
  .strictObject({
    sequence: z.int(),
    withdrawn: z.array(z.strictObject({ id: z.string(), version: z.string() })),
    /** Modules that `unserved` leaves published: a live worker has them, but could not load them. */
    broken: z.array(z.string()),
  })
  .meta({ id: 'Withdrawal' });
export type WithdrawalView = z.infer<typeof withdrawalSchema>;
