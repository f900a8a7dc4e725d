import { splitToolId, type ToolId } from '../../domain/identity/ids.ts';
import type { ServedTool, ServedTools } from '../../domain/ports/plane.ts';
import { entriesOf } from '../../domain/tool/module.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import type { JsonObject } from '../../base/json.ts';
import { compileDefaults, type FillDefaults } from './fill-defaults.ts';
import type { LoadedModule } from './loaded-module.ts';
import { passSourcesOn } from './module-sources.ts';
import { nearNames } from '../../base/near-names.ts';
import { readUriArgument } from './read-uri-argument.ts';
import { createValidatorCache, type ValidatorCache } from './validate-arguments.ts';

/** The tools of one load. Immutable: a reload makes a new index, and running calls keep the tools of the old one. */
export interface ToolIndex extends ServedTools {
  readonly modules: readonly LoadedModule[];
  readonly toolDigests: readonly string[];
  readonly size: number;
}

/**
 * Indexes the tools of modules. Schemas are compiled when a tool is first called. Pass the same `validators` to the next index, so that
 * unchanged tools keep their compiled schemas after a reload.
 */
export function createToolIndex(
  modules: readonly LoadedModule[],
  validators: ValidatorCache = createValidatorCache(),
): ToolIndex {
  const tools = new Map<string, ServedTool>();
  for (const module of modules) {
    for (const declaration of entriesOf(module.declaration))
      tools.set(declaration.id, serve(module, declaration, validators));
  }
  const ids = modules.flatMap(({ declaration }) => declaration.tools.map(({ id }): string => id));
  return Object.freeze({
    modules: Object.freeze([...modules]),
    toolDigests: Object.freeze([...tools.values()].map((tool) => tool.declaration.digest)),
    size: tools.size,
    find: (id: string) => tools.get(id),
    near: (id: string) => nearNames(id, ids),
  });
}

function serve(module: LoadedModule, declaration: ToolDeclaration, validators: ValidatorCache): ServedTool {
  const { id, digest, inputSchema, outputSchema } = declaration;
  const inputKey = `${digest} input`;
  const outputKey = `${digest} output`;
  const input = readUriArgument(declaration, {
    validate: (value) => validators.validatorOf(inputKey, inputSchema)(value),
    fill: lazyDefaults(inputSchema),
  });
  return Object.freeze({
    declaration,
    runner: module.runner,
    source: sourceOf(module, id),
    setup: module.setup,
    ...(module.needs === undefined ? {} : { needs: module.needs }),
    ...(module.builtIn === undefined ? {} : { builtIn: module.builtIn }),
    ...(module.refusalOf === undefined ? {} : { refusal: () => module.refusalOf!(id) }),
    denialPatterns: module.denialPatterns[id] ?? [],
    validateInput: input.validate,
    fillDefaults: input.fill,
    ...(outputSchema === undefined
      ? {}
      : { validateOutput: (value: unknown) => validators.validatorOf(outputKey, outputSchema)(value) }),
  });
}

/** Compiles the defaults when the tool is first called; most schemas have none. */
function lazyDefaults(schema: JsonObject): FillDefaults {
  let fill: FillDefaults | undefined;
  return (value) => {
    fill ??= compileDefaults(schema) ?? ((same) => same);
    return fill(value);
  };
}

function sourceOf(module: LoadedModule, id: ToolId): ServedTool['source'] {
  const { file, generation, declaration } = module;
  const source = Object.freeze({ file, generation, module: declaration.id, tool: splitToolId(id)?.tool ?? id });
  passSourcesOn(module, source);
  return source;
}
