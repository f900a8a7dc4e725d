import type { PublishedTool } from '../domain/catalog.ts';
import type { Effect, ToolDeclaration } from '../domain/tool.ts';
import { nameTools, type ObjectSchema } from './named-tools.ts';

export interface McpTool {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean };
}

/** `tools` of an answer to `tools/list`. The title, which clients show to people, is the tool's id. */
export function toMcp(tools: readonly PublishedTool[]): McpTool[] {
  return nameTools(tools).map(({ name, tool, inputSchema }) => {
    const outputSchema = outputSchemaOf(tool);
    return {
      name,
      title: tool.id,
      description: tool.description,
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      annotations: annotationsOf(tool.effect),
    };
  });
}

/** MCP takes only schemas of objects here; without one a client checks nothing, and the worker has checked already. */
function outputSchemaOf({ outputSchema }: ToolDeclaration): ObjectSchema | undefined {
  return outputSchema?.['type'] === 'object' ? (structuredClone(outputSchema) as ObjectSchema) : undefined;
}

/** An effect does not say whether a change also destroys, and a hint must not promise what nobody said. */
function annotationsOf(effect: Effect): McpTool['annotations'] {
  return {
    readOnlyHint: effect === 'read',
    destructiveHint: effect !== 'read',
    idempotentHint: effect !== 'unsafe',
  };
}
