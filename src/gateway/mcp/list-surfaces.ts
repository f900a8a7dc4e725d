import type { Result } from '@modelcontextprotocol/server';
import { createSurfaces, type PromptView, type ResourceView } from '../../client/surfaces.ts';
import type { McpCaller, McpShared } from './mcp-shared.ts';
import { pageOf } from './pages.ts';

/** Passed as `call` to `createSurfaces`: lists make no call. */
async function neverCalled(): Promise<never> {
  throw new Error('a list makes no call');
}

export async function listResources(
  shared: McpShared,
  caller: McpCaller,
  kind: 'uri' | 'uriTemplate',
  cursor: string | undefined,
): Promise<Result> {
  const surfaces = createSurfaces({ toolkit: (session) => shared.plane.client.toolkit(session), call: neverCalled });
  const all = await surfaces.resources(await shared.handleOf(caller));
  const { items, more } = pageOf(
    all.filter((view) => kind in view),
    ({ id }) => id,
    cursor,
  );
  const shown = items.map(showResource);
  return kind === 'uri' ? { resources: shown, ...more } : { resourceTemplates: shown, ...more };
}

export async function listPrompts(shared: McpShared, caller: McpCaller, cursor: string | undefined): Promise<Result> {
  const surfaces = createSurfaces({ toolkit: (session) => shared.plane.client.toolkit(session), call: neverCalled });
  const all = await surfaces.prompts(await shared.handleOf(caller));
  const { items, more } = pageOf(all, ({ id }) => id, cursor);
  return { prompts: items.map((view) => showPrompt(shared, view)), ...more };
}

function showResource(view: ResourceView): Result {
  const { name, title, description, mediaType } = view;
  return {
    ...('uri' in view ? { uri: view.uri } : { uriTemplate: view.uriTemplate }),
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === '' ? {} : { description }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
  };
}

function showPrompt(shared: McpShared, view: PromptView): Result {
  const { title, description } = view;
  return {
    name: shared.shownName(view.module, view.name),
    ...(title === undefined ? {} : { title }),
    ...(description === '' ? {} : { description }),
    arguments: view.arguments.map((argument) => ({
      name: argument.name,
      ...(argument.title === undefined ? {} : { title: argument.title }),
      ...(argument.description === undefined ? {} : { description: argument.description }),
      required: argument.required,
    })),
  };
}
