import type { ModuleDefinition } from 'sallyport/tool';
import { describeModule } from '../../src/modules/authoring/describe-module.ts';
import { parseWith } from '../../src/modules/authoring/standard-schema.ts';
import { compileDefaults } from '../../src/modules/catalog/fill-defaults.ts';
import { DEFAULT_LIMITS } from '../../src/domain/tool/tool.ts';
import type { CallId, ToolId } from '../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { PlatformReply, PlatformRequest, Progress, RunEnding } from '../../src/domain/ports/tool-runner.ts';
import { runTool } from '../../src/worker/runners/run-tool.ts';

export interface ExampleRun {
  readonly setup?: JsonObject;
  readonly subject?: string;
  readonly callId?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  readonly onPlatform?: (request: PlatformRequest) => Promise<PlatformReply>;
}

let calls = 0;

/** Runs a tool as the runners do, with its schemas, its defaults and the checks of what it returns or throws. */
export async function runExample(
  module: ModuleDefinition,
  tool: string,
  args: JsonObject,
  {
    setup = {},
    subject = 'ada',
    callId,
    signal = new AbortController().signal,
    onProgress = () => {},
    onPlatform,
  }: ExampleRun = {},
): Promise<RunEnding> {
  calls += 1;
  const facts = {
    toolId: `${module.id}.${tool}` as ToolId,
    maxResultBytes: DEFAULT_LIMITS.maxResultBytes,
    callId: (callId ?? `call-${calls}`) as CallId,
    fence: 1,
    identity: { tenant: 'default', subject, agent: 'main' },
    untrusted: {},
    arguments: args,
    setup,
    timeoutMs: 30_000,
  };
  const onNestedCall = () => Promise.reject(new Error('examples make no nested calls'));
  const throwIfAborted = (): void => signal.throwIfAborted();
  const onSecret = () => Promise.reject(new Error('examples get their secrets in their setup'));
  const onServiceCall = () => Promise.reject(new Error('there are no services here'));
  const platform = onPlatform === undefined ? {} : { onPlatform };
  const host = {
    signal,
    throwIfAborted,
    onProgress,
    onLog: () => {},
    onNestedCall,
    onSecret,
    onServiceCall,
    ...platform,
  };
  const { inputSchema, normalises } = describeModule(module).tools.find(({ id }) => id === facts.toolId)!;
  // As the plane does before the rules: a schema that changes arguments is applied once; for other tools only the defaults are filled in.
  const first =
    normalises === true ? await runTool(async () => module, tool, { ...facts, step: 'normalise' }, host) : undefined;
  if (first !== undefined && first.kind !== 'normalised') return first;
  const judged =
    first === undefined
      ? { ...facts, arguments: compileDefaults(inputSchema)?.(args) ?? args }
      : { ...facts, step: 'parsed' as const, arguments: JSON.parse(first.arguments) as JsonObject };
  const ending = await runTool(async () => module, tool, judged, host);
  if (ending.kind === 'returned') await mustMatch(module.tools[tool]?.output, ending.result.value);
  return ending;
}

/** Checks a result against the output schema, as the plane does before it settles the call. */
async function mustMatch(schema: unknown, value: unknown): Promise<void> {
  const parsed = await parseWith(schema, value);
  if (parsed.kind === 'issues')
    throw new Error(`The result does not match the output schema: ${parsed.problems.join('; ')}`);
}

/** The value of a run that returned; anything else fails the test with what happened. */
export async function valueOf<Value = JsonObject>(run: Promise<RunEnding>): Promise<Value> {
  const ending = await run;
  if (ending.kind !== 'returned') throw new Error(`The tool did not return: ${JSON.stringify(ending)}`);
  return ending.result.value as Value;
}

/** `denied ADDRESS_REFUSED`, `failed NOT_FOUND`, or the kind of another ending. */
export async function refusalOf(run: Promise<RunEnding>): Promise<string> {
  const ending = await run;
  if (ending.kind === 'invalid-arguments') return ending.kind;
  return ending.kind === 'refused' ? `${ending.how} ${ending.code}` : `${ending.kind} ${JSON.stringify(ending)}`;
}
