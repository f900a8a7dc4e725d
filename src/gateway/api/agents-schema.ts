import { z } from '@hono/zod-openapi';
import { nameText, pageOf } from './page-schema.ts';

const declarationSchema = z
  .strictObject({
    selection: z
      .array(z.strictObject({ module: z.string(), tools: z.union([z.literal('all'), z.array(z.string()).readonly()]) }))
      .readonly(),
    description: z.string().optional(),
  })
  .meta({ id: 'AgentDeclaration' });

export const agentSchema = z
  .strictObject({
    name: z.string(),
    /**
     * The only tenant that the agent is declared for. Absent: the agent is declared for every tenant that has no declaration of its own for
     * this name.
     */
    tenant: z.string().optional(),
    declaration: declarationSchema,
    paused: z.boolean(),
    /** How many published tools the agent selects. */
    tools: z.int(),
    /** Parts of the declaration that are probably mistakes. */
    problems: z.array(z.string()),
  })
  .meta({ id: 'Agent' });
export type AgentView = z.infer<typeof agentSchema>;

/**
 * `selecting: false`: no agent is declared for all tenants, so permissions alone decide which tools an agent has. The tenants in
 * `selectingTenants` are the exception: they declare agents of their own.
 */
export const agentPageSchema = pageOf(agentSchema)
  .extend({ selecting: z.boolean(), selectingTenants: z.array(z.string()), policyVersion: z.int() })
  .meta({ id: 'AgentPage' });
export type AgentPage = z.infer<typeof agentPageSchema>;

/** A declaration as a client writes it. It is checked by the same code as in `sallyport agents set`, with the same messages. */
export const agentInputSchema = z
  .looseObject({ selection: z.array(z.record(z.string(), z.unknown())), description: z.string().optional() })
  .meta({ id: 'AgentInput' });

export const agentChangedSchema = z
  .strictObject({
    policyVersion: z.int(),
    changed: z.boolean(),
    /** The agent that was declared or removed. */
    name: z.string(),
    tenant: z.string().optional(),
    declaration: declarationSchema.optional(),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'AgentChanged' });
export type AgentChanged = z.infer<typeof agentChangedSchema>;

export const agentParams = z.strictObject({ name: nameText });
/** `tenant`: use the declaration that is for this tenant alone. */
export const agentQuery = z.strictObject({ tenant: nameText.optional() });
