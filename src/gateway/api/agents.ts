import { declaredAt, isSelecting, listAgents, nameAgent, type ListedAgent } from '../../domain/identity/agent.ts';
import type { DeclaredPlace } from '../../domain/identity/declared-agents.ts';
import { planeError, type PlaneError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { entriesOf } from '../../domain/tool/module.ts';
import { pausedAgent, type PolicyRecord } from '../../domain/policy/policy.ts';
import { selects } from '../../domain/identity/selection.ts';
import { actorOf } from '../actor-of.ts';
import { addRoute, type Api, type ApiNeeds } from './api-route.ts';
import {
  agentChangedSchema,
  agentInputSchema,
  agentPageSchema,
  agentParams,
  agentQuery,
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
      summary: 'The declared agents, by name: the general ones, then those of each tenant',
      answers: { 200: { description: 'All of them.', schema: agentPageSchema } },
    },
    async (context) => {
      const record = await store.readPolicy();
      const items = await showAgents(record, listAgents(record.policy));
      const { version: policyVersion, policy } = record;
      const selecting = policy.agents !== undefined;
      const selectingTenants = Object.keys(policy.tenants ?? {}).filter((tenant) => isSelecting(policy, tenant));
      return context.json({ items, selecting, selectingTenants: selectingTenants.sort(), policyVersion });
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
      query: agentQuery,
      answers: { 200: { description: 'The agent.', schema: agentSchema } },
      problems: [404],
    },
    async (context, { params, query }) => {
      const place = placeOf(params, query);
      const record = await store.readPolicy();
      const declaration = declaredAt(record.policy, place.name, place.tenant);
      if (declaration === undefined) throw unknownAgent(place);
      const [agent] = await showAgents(record, [{ ...place, declaration }]);
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
      query: agentQuery,
      body: agentInputSchema,
      answers: { 200: { description: 'It stands in the policy.', schema: agentChangedSchema } },
    },
    async (context, { params, query, body }) => {
      const place = placeOf(params, query);
      const declared = await operations.changeAgent(place, body as JsonObject, {
        actor: actorOf(context.get('auth')),
      });
      const { policyVersion, changed, warnings } = declared;
      const declaration = declared.declared[place.name];
      const answer: AgentChanged = {
        policyVersion,
        changed,
        ...place,
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
      query: agentQuery,
      answers: { 200: { description: 'It is gone.', schema: agentChangedSchema } },
      problems: [404],
    },
    async (context, { params, query }) => {
      const place = placeOf(params, query);
      const { policyVersion, changed, removed, warnings } = await operations.changeAgent(place, null, {
        actor: actorOf(context.get('auth')),
      });
      if (removed.length === 0) throw unknownAgent(place);
      return context.json({ policyVersion, changed, ...place, warnings: [...warnings] } satisfies AgentChanged);
    },
  );

  async function showAgents(record: PolicyRecord, agents: readonly ListedAgent[]): Promise<AgentView[]> {
    const catalog = await store.readCatalog();
    const ids = catalog.modules.flatMap(entriesOf).map(({ id }) => id);
    return agents.map(({ declaration, ...place }) => {
      const paused = record.policy.paused.all === true || isPaused(record, place.name);
      const tools = ids.filter((id) => selects(declaration.selection, id)).length;
      const problems = [...operations.agentWarnings(place, declaration, catalog)];
      return { ...place, declaration, paused, tools, problems };
    });
  }
}

function placeOf(
  { name }: { readonly name: string },
  { tenant }: { readonly tenant?: string | undefined },
): DeclaredPlace {
  return tenant === undefined ? { name } : { name, tenant };
}

function unknownAgent({ name, tenant }: DeclaredPlace): PlaneError {
  return planeError('AGENT_UNKNOWN', { agent: nameAgent(name, tenant) });
}

function isPaused({ policy }: PolicyRecord, agent: string): boolean {
  return pausedAgent(policy.paused, { tenant: '', subject: '', agent }) !== undefined;
}
