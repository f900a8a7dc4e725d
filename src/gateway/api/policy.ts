import type { JsonObject } from '../../base/json.ts';
import { actorOf } from '../actor-of.ts';
import { addRoute, defined, type Api, type ApiNeeds } from './api-route.ts';
import {
  pauseAnswerSchema,
  pauseRequestSchema,
  policyRecordSchema,
  policySetSchema,
  setPolicySchema,
} from './policy-schema.ts';

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
