import { z } from '@hono/zod-openapi';
import { EFFECTS } from '../../domain/tool.ts';

const jsonSchema = z.record(z.string(), z.unknown());

export const toolSchema = z
  .strictObject({
    id: z.string(),
    description: z.string(),
    effect: z.enum(EFFECTS),
    privileged: z.boolean(),
    serial: z.boolean(),
    pinned: z.literal('caller').optional(),
    /** Present: no tool but a resource or a prompt. */
    surface: z.record(z.string(), z.unknown()).optional(),
    inputSchema: jsonSchema,
    outputSchema: jsonSchema.optional(),
    digest: z.string(),
  })
  .meta({ id: 'Tool' });
export type ToolView = z.infer<typeof toolSchema>;

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
  })
  .meta({ id: 'Toolkit' });
export type ToolkitView = z.infer<typeof toolkitSchema>;
