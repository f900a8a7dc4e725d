import type { PublishedTool } from '../../domain/tool/catalog.ts';
import type { ToolId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { nameTools, type ObjectSchema } from './named-tools.ts';

export interface AiSdkTool {
  description: string;
  /** Wrap it with `jsonSchema()`. */
  inputSchema: ObjectSchema;
}

/** The tools by name, as `tools` of `generateText` expects them; data only. */
export function toAiSdk(tools: readonly PublishedTool[]): Record<string, AiSdkTool> {
  return Object.fromEntries(
    nameTools(tools).map(({ name, tool, inputSchema }) => [name, { description: tool.description, inputSchema }]),
  );
}

/** The parts of the package `ai`, versions 6 and 7, that are used here. Declared as methods, so that the package's narrower parameters fit. */
export interface AiSdk<Schema, SdkTool> {
  jsonSchema(schema: object): Schema;
  dynamicTool(options: {
    description: string;
    inputSchema: Schema;
    execute(input: unknown, options: AiSdkCallOptions): Promise<unknown>;
  }): SdkTool;
}

export interface AiSdkCallOptions {
  /** The id that the model gave this call. */
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal | undefined;
}

/** Runs a call of the model. `args` is what the model wrote: an object, but not validated yet. The returned value goes to the model as JSON. */
export type RunToolCall = (tool: ToolId, args: JsonObject, options: AiSdkCallOptions) => Promise<unknown>;

/** Tools that the SDK runs by itself: `makeAiSdkTools(await import('ai'), tools, run)`. */
export function makeAiSdkTools<Schema, SdkTool>(
  sdk: AiSdk<Schema, SdkTool>,
  tools: readonly PublishedTool[],
  run: RunToolCall,
): Record<string, SdkTool> {
  return Object.fromEntries(
    nameTools(tools).map(({ name, tool, inputSchema }) => {
      const { description, id } = tool;
      return [
        name,
        sdk.dynamicTool({
          description,
          inputSchema: sdk.jsonSchema(inputSchema),
          execute: (input, options) => run(id, input as JsonObject, options),
        }),
      ];
    }),
  );
}
