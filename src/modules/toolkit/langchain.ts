import type { PublishedTool } from '../../domain/tool/catalog.ts';
import { nameTools, type ObjectSchema } from './named-tools.ts';

export interface LangChainTool {
  name: string;
  description: string;
  schema: ObjectSchema;
}

/** The fields of LangChain's `tool(func, fields)`; together with a `func` also those of `new DynamicStructuredTool(fields)`. */
export function toLangChain(tools: readonly PublishedTool[]): LangChainTool[] {
  return nameTools(tools).map(({ name, tool, inputSchema }) => ({
    name,
    description: tool.description,
    schema: inputSchema,
  }));
}
