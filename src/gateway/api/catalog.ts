import { entriesOf } from '../../domain/tool/module.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { servingOf, unservedTools } from '../../domain/tool/serving.ts';
import { actorOf } from '../actor-of.ts';
import { addRoute, defined, type Api, type ApiNeeds } from './api-route.ts';
import {
  catalogSchema,
  toolkitSchema,
  withdrawalSchema,
  withdrawRequestSchema,
  type CatalogView,
  type ToolkitView,
  type ToolView,
  type WithdrawalView,
} from './catalog-schema.ts';

const TAG = 'catalog';

export function addCatalog(api: Api, { plane }: ApiNeeds): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/catalog',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Everything that is published',
      answers: { 200: { description: 'Modules with their tools.', schema: catalogSchema } },
    },
    async (context) => {
      const { digest, sequence, modules } = await plane.client.catalog();
      const workers = await plane.store.listWorkers();
      const catalog: CatalogView = {
        digest,
        sequence,
        modules: modules.map((module) => {
          const { id, description, version, pool } = module;
          const serving = servingOf(module, workers);
          const tools = entriesOf(module).map(showTool);
          return { id, description, version, pool, digest: module.digest, serving, tools };
        }),
      };
      return context.json(catalog);
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/catalog/withdraw',
      scopes: ['admin'],
      tag: TAG,
      summary: 'Take modules out of the catalog that no live worker serves',
      body: withdrawRequestSchema,
      answers: { 200: { description: 'They are out of the catalog.', schema: withdrawalSchema } },
      problems: [404, 409],
    },
    async (context, { body: { modules, force, comment } }) => {
      const who = { actor: actorOf(context.get('auth')), ...defined({ comment }) };
      const done = await plane.operations.withdrawModules({ modules, ...defined({ force }) }, who);
      const answer: WithdrawalView = {
        sequence: done.sequence,
        withdrawn: done.withdrawn.map(({ id, version }) => ({ id, version })),
        broken: [...done.broken],
      };
      return context.json(answer);
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/toolkit',
      scopes: ['agent'],
      tag: TAG,
      summary: 'The tools this agent may call now, and why it lacks the others',
      answers: { 200: { description: 'Its toolkit.', schema: toolkitSchema } },
    },
    async (context) => {
      const handle = await plane.sessions.handleOf(context.get('auth'));
      const { tools, missing, catalogDigest } = await plane.client.toolkit(handle);
      const modules = [...new Set(tools.map(({ module }) => module))];
      const own = new Set<string>(tools.map(({ tool }) => tool.id));
      const toolkit: ToolkitView = {
        digest: catalogDigest,
        tools: tools.map(({ tool }) => showTool(tool)),
        missing: missing.map((one) => ({ ...one })),
        unserved: unservedTools(modules, await plane.store.listWorkers()).filter((id) => own.has(id)),
      };
      return context.json(toolkit);
    },
  );
}

function showTool({
  id,
  description,
  effect,
  privileged,
  serial,
  pinned,
  inputSchema,
  outputSchema,
  digest,
  surface,
}: ToolDeclaration): ToolView {
  return {
    id,
    description,
    effect,
    privileged,
    serial,
    ...(pinned === undefined ? {} : { pinned }),
    ...(surface === undefined ? {} : { surface: { ...surface } }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    digest,
  };
}
