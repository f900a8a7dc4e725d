import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/json.ts';
import type { ModuleDeclaration } from '../../domain/tool/module.ts';
import { splitToolId } from '../../domain/identity/ids.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';

/**
 * Returns the declaration with its schemas replaced by equal ones of `sibling`, another setup of the same code. Equal schemas are then in
 * memory only once, however many setups there are. Schemas that differ are kept, because code may describe itself differently each time it
 * is imported.
 */
export function shareSchemas(declaration: ModuleDeclaration, sibling: ModuleDeclaration): ModuleDeclaration {
  // Only schemas of tools are shared; those of resources and prompts are small.
  const shared = new Map(sibling.tools.map((tool) => [nameOf(tool), tool]));
  const tools = declaration.tools.map((tool): ToolDeclaration => {
    const other = shared.get(nameOf(tool));
    if (other === undefined) return tool;
    const { inputSchema, outputSchema } = tool;
    return {
      ...tool,
      inputSchema: either(inputSchema, other.inputSchema),
      ...(outputSchema === undefined ? {} : { outputSchema: either(outputSchema, other.outputSchema) }),
    };
  });
  return { ...declaration, tools };
}

function nameOf({ id }: ToolDeclaration): string {
  return splitToolId(id)?.tool ?? id;
}

function either(own: JsonObject, other: JsonObject | undefined): JsonObject {
  return other !== undefined && isDeepStrictEqual(own, other) ? other : own;
}
