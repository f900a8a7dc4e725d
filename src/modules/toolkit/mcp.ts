import type { PublishedTool } from '../../domain/tool/catalog.ts';
import type { Effect, ToolDeclaration } from '../../domain/tool/tool.ts';
import { nameTools, type ObjectSchema } from './named-tools.ts';

export interface McpTool {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema?: ObjectSchema;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean };
}

/** The `tools` of an answer to `tools/list`. The title, which clients show to people, is the tool's id. */
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

/** MCP accepts only object schemas here. Without a schema the client checks nothing; the worker has already checked the result. */
function outputSchemaOf({ outputSchema }: ToolDeclaration): ObjectSchema | undefined {
  return outputSchema?.['type'] === 'object' ? (structuredClone(outputSchema) as ObjectSchema) : undefined;
}

/** The hints for one effect. An effect other than `read` may also destroy something, so the hint says that it can. */
function annotationsOf(effect: Effect): McpTool['annotations'] {
  return {
    readOnlyHint: effect === 'read',
    destructiveHint: effect !== 'read',
    idempotentHint: effect !== 'unsafe',
  };
}
