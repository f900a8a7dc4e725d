import { z } from '@hono/zod-openapi';
import type { JsonObject } from '../../base/json.ts';
import { AUDIT_LIMITS } from '../../domain/audit/audit-record.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import { actorOf } from '../actor-of.ts';
import { addRoute, defined, type Api, type ApiNeeds } from './api-route.ts';

/**
 * A policy in the form of a policy file; see docs/policy.md. It is checked by the same code as in `sallyport policy set`, with the same
 * messages.
 */
const policyBodySchema = z
  .record(z.string(), z.unknown())
  .openapi({ type: 'object', additionalProperties: true, description: 'As a policy file has it.' });

const policyRecordSchema = z
  .strictObject({
    version: z.int(),
    policy: z.custom<Policy>().openapi({ type: 'object', additionalProperties: true }),
  })
  .meta({ id: 'PolicyRecord' });

/** The reason for the change; it goes into the audit record. */
const auditComment = z.string().min(1).max(AUDIT_LIMITS.commentLength).optional();

const setPolicySchema = z
  .strictObject({ expectedVersion: z.int().min(0), policy: policyBodySchema, comment: auditComment })
  .meta({ id: 'SetPolicy' });
const policySetSchema = z
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

const pauseRequestSchema = z
  .strictObject({
    what: z.enum(['all', 'agent', 'tool']),
    /** The name of the agent, or `module.tool` or `module.*`. Not with `all`. */
    name: z.string().min(1).max(256).optional(),
    /** True resumes instead of pausing. */
    resume: z.boolean().optional(),
    comment: auditComment,
  })
  .meta({ id: 'PauseRequest' });
const pauseAnswerSchema = z
  .strictObject({ version: z.int(), changed: z.boolean(), paused: pausedSchema, warnings: z.array(z.string()) })
  .meta({ id: 'PauseAnswer' });

const TAG = 'policy';

export function addPolicy(api: Api, { plane: { store, operations } }: ApiNeeds): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/policy',
      scopes: ['operator'],
      tag: TAG,
      summary: 'The policy in force, and its version',
      answers: { 200: { description: 'The policy.', schema: policyRecordSchema } },
    },
    async (context) => context.json(await store.readPolicy()),
  );

  addRoute(
    api,
    {
      method: 'put',
      path: '/policy',
      scopes: ['admin'],
      tag: TAG,
      summary: 'Replace the policy that has this version; what is not spoken of stays, as with a policy file',
      body: setPolicySchema,
      answers: { 200: { description: 'It holds for every call claimed from now on.', schema: policySetSchema } },
      problems: [409],
    },
    async (context, { body: { expectedVersion, policy, comment } }) => {
      const who = { actor: actorOf(context.get('auth')), ...defined({ comment }) };
      const { version, warnings, kept } = await operations.setPolicy(policy as JsonObject, expectedVersion, who);
      return context.json({ version, warnings: [...warnings], kept: [...kept] });
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/pause',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Refuse calls of an agent, of a tool, or all calls, until resumed',
      body: pauseRequestSchema,
      answers: { 200: { description: 'What is paused now.', schema: pauseAnswerSchema } },
    },
    async (context, { body: { what, name, resume = false, comment } }) => {
      const who = { actor: actorOf(context.get('auth')), ...defined({ comment }) };
      return context.json(await operations.pause({ what, resume, ...defined({ name }) }, who));
    },
  );
}
