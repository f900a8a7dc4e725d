import { entriesOf } from '../../domain/module.ts';
import type { ToolDeclaration } from '../../domain/tool.ts';
import { addRoute, type Api, type ApiNeeds } from './api-route.ts';
import { catalogSchema, toolkitSchema, type CatalogView, type ToolkitView, type ToolView } from './catalog-schema.ts';

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
      const catalog: CatalogView = {
        digest,
        sequence,
        modules: modules.map((module) => {
          const { id, description, version, pool } = module;
          return { id, description, version, pool, digest: module.digest, tools: entriesOf(module).map(showTool) };
        }),
      };
      return context.json(catalog);
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
      const toolkit: ToolkitView = {
        digest: catalogDigest,
        tools: tools.map(({ tool }) => showTool(tool)),
        missing: missing.map((one) => ({ ...one })),
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
