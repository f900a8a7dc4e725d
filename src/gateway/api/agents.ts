import { findAgent } from '../../domain/agent.ts';
import { planeError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { entriesOf } from '../../domain/module.ts';
import { pausedAgent, type PolicyRecord } from '../../domain/policy.ts';
import { selects } from '../../domain/selection.ts';
import { actorOf } from '../actor-of.ts';
import { addRoute, type Api, type ApiNeeds } from './api-route.ts';
import {
  agentChangedSchema,
  agentInputSchema,
  agentPageSchema,
  agentParams,
  agentSchema,
  type AgentChanged,
  type AgentView,
} from './agents-schema.ts';

const TAG = 'agents';

export function addAgents(api: Api, { plane }: ApiNeeds): void {
  const { store, operations } = plane;

  addRoute(
    api,
    {
      method: 'get',
      path: '/agents',
      scopes: ['operator'],
      tag: TAG,
      summary: 'The declared agents, by name',
      answers: { 200: { description: 'All of them.', schema: agentPageSchema } },
    },
    async (context) => {
      const record = await store.readPolicy();
      const items = await showAgents(record, Object.keys(record.policy.agents ?? {}).sort());
      const { version: policyVersion, policy } = record;
      return context.json({ items, selecting: policy.agents !== undefined, policyVersion });
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/agents/{name}',
      scopes: ['operator'],
      tag: TAG,
      summary: 'What one agent declared',
      params: agentParams,
      answers: { 200: { description: 'The agent.', schema: agentSchema } },
      problems: [404],
    },
    async (context, { params: { name } }) => {
      const record = await store.readPolicy();
      if (findAgent(record.policy, name) === undefined) throw planeError('AGENT_UNKNOWN', { agent: name });
      const [agent] = await showAgents(record, [name]);
      return context.json(agent);
    },
  );

  addRoute(
    api,
    {
      method: 'put',
      path: '/agents/{name}',
      scopes: ['admin'],
      tag: TAG,
      summary: 'Declare an agent, or replace what it declared; it holds for every call claimed from now on',
      params: agentParams,
      body: agentInputSchema,
      answers: { 200: { description: 'It stands in the policy.', schema: agentChangedSchema } },
    },
    async (context, { params: { name }, body }) => {
      const declared = await operations.changeAgent(name, body as JsonObject, {
        actor: actorOf(context.get('auth')),
      });
      const { policyVersion, changed, warnings } = declared;
      const declaration = declared.declared[name];
      const answer: AgentChanged = {
        policyVersion,
        changed,
        name,
        ...(declaration === undefined ? {} : { declaration }),
        warnings: [...warnings],
      };
      return context.json(answer);
    },
  );

  addRoute(
    api,
    {
      method: 'delete',
      path: '/agents/{name}',
      scopes: ['admin'],
      tag: TAG,
      summary: 'Take an agent away; it then has no tools',
      params: agentParams,
      answers: { 200: { description: 'It is gone.', schema: agentChangedSchema } },
      problems: [404],
    },
    async (context, { params: { name } }) => {
      const { policyVersion, changed, removed, warnings } = await operations.changeAgent(name, null, {
        actor: actorOf(context.get('auth')),
      });
      if (removed.length === 0) throw planeError('AGENT_UNKNOWN', { agent: name });
      return context.json({ policyVersion, changed, name, warnings: [...warnings] } satisfies AgentChanged);
    },
  );

  async function showAgents(record: PolicyRecord, names: readonly string[]): Promise<AgentView[]> {
    const catalog = await store.readCatalog();
    const ids = catalog.modules.flatMap(entriesOf).map(({ id }) => id);
    const doubts = operations.agentDoubts(record, catalog);
    return names.map((name) => {
      const declaration = findAgent(record.policy, name)!;
      const paused = record.policy.paused.all === true || isPaused(record, name);
      const tools = ids.filter((id) => selects(declaration.selection, id)).length;
      return { name, declaration, paused, tools, problems: [...(doubts.get(name) ?? [])] };
    });
  }
}

function isPaused({ policy }: PolicyRecord, agent: string): boolean {
  return pausedAgent(policy.paused, { tenant: '', subject: '', agent }) !== undefined;
}
