// `sallyport/tool`: what the author of a module needs. It is loaded in tool processes, so it stays small.
export {
  audio,
  embedded,
  file,
  image,
  structured,
  text,
  type ToolContent,
} from '../modules/authoring/content-blocks.ts';
export {
  defineModule,
  tool,
  type ModuleDefinition,
  type ModuleOptions,
  type ToolDefinition,
  type ToolMaker,
  type ToolOptions,
} from '../modules/authoring/define-module.ts';
export {
  prompt,
  resource,
  type AskedCompletion,
  type GivenCompletion,
  type PromptDefinition,
  type PromptMaker,
  type PromptMessage,
  type PromptOptions,
  type PromptReturn,
  type ResourceContent,
  type ResourceDefinition,
  type ResourceMaker,
  type ResourceOptions,
  type ResourceReturn,
} from '../modules/authoring/define-surfaces.ts';
export type {
  AnswerTo,
  AskedInput,
  Elicited,
  RequestInputOptions,
  RootsAnswer,
  SampledAnswer,
  ToolInput,
} from '../modules/authoring/input-requests.ts';
export { jsonSchema } from '../modules/authoring/plain-schema.ts';
export { secret } from '../modules/authoring/secret-schema.ts';
export type { StandardSchema } from '../modules/authoring/standard-schema.ts';
export type {
  Conversations,
  Entity,
  FoundEntity,
  FoundMessage,
  Knowledge,
  Message,
  Models,
  Neighbourhood,
  NeighbourhoodQuery,
  NewEntity,
  NewMessage,
  NewRelation,
  NewTask,
  Relation,
  SearchBy,
  SearchQuery,
  Services,
  Task,
  TaskChange,
  TaskList,
  WindowQuery,
} from '../domain/ports/tool-services.ts';
export type {
  EffectOptions,
  NestedCallOptions,
  PlatformProxy,
  RawOptions,
  SentEffect,
  SentFile,
  SentMessage,
  ToolContext,
  ToolLog,
  ToolSecrets,
} from '../modules/authoring/tool-context.ts';
export { denied, ToolFailure } from '../modules/authoring/tool-failure.ts';
export type { JsonObject, JsonValue } from '../base/json.ts';
export type { Outcome } from '../domain/outcome/outcome.ts';
export type { Effect, RunnerName, ToolLimits } from '../domain/tool/tool.ts';
export type { TraceContext } from '../domain/call/trace-context.ts';
