import type { ModuleDefinition, ToolDefinition } from '../authoring/define-module.ts';
import { parseWith } from '../authoring/standard-schema.ts';
import { readToolFailure } from '../authoring/tool-failure.ts';
import type { RunEnding, RunRequest } from '../ports/tool-runner.ts';
import { copyJson } from './copy-json.ts';
import { describeThrown } from './describe-thrown.ts';
import { openContext, type RunFacts, type RunHost } from './open-context.ts';
import { endingOfReturned } from './plain-result.ts';

export function factsOf(request: RunRequest, timeoutMs = request.timeoutMs): RunFacts {
  const { tool, callId, fence, identity, untrusted, setup } = request;
  return {
    toolId: tool.id,
    maxResultBytes: tool.limits.maxResultBytes,
    callId,
    fence,
    identity,
    untrusted,
    arguments: request.arguments,
    setup,
    timeoutMs,
  };
}

/**
 * Enters tool code and says how it ended. Never rejects, whatever the tool throws or returns; time is the runner's
 * business. `load` may run the module's top-level code.
 */
export async function runTool(
  load: () => Promise<ModuleDefinition>,
  toolName: string,
  facts: RunFacts,
  host: RunHost,
): Promise<RunEnding> {
  try {
    const module = await load();
    const definition = Object.hasOwn(module.tools, toolName) ? module.tools[toolName] : undefined;
    if (typeof definition?.run !== 'function') return threw('ToolMissing', `${toolName} has no function "run"`);
    // Copies: what the tool does to its arguments must not reach the caller's records.
    const setup = await parseWith(module.setup, copyJson(facts.setup));
    if (setup.kind === 'issues') return threw('SetupInvalid', setup.problems.join('; '));
    const args = await parseWith(definition.input, copyJson(facts.arguments));
    if (args.kind === 'issues') return { kind: 'invalid-arguments', problems: args.problems };
    // Loading and parsing took time; a run that was stopped meanwhile must not begin.
    host.throwIfAborted();
    return await enter(definition, args.value, setup.value, facts, host);
  } catch (thrown) {
    return { kind: 'threw', ...describeThrown(thrown) };
  }
}

async function enter(
  definition: ToolDefinition,
  args: unknown,
  setup: unknown,
  facts: RunFacts,
  host: RunHost,
): Promise<RunEnding> {
  const { context, writeBacks, close } = openContext(facts, setup, host);
  try {
    const returned: unknown = await definition.run(args, context);
    close();
    return endingOfReturned(returned, writeBacks.take(), facts.maxResultBytes);
  } catch (thrown) {
    const failure = readToolFailure(thrown);
    if (failure === undefined) return { kind: 'threw', ...describeThrown(thrown) };
    return { kind: 'refused', ...failure, writeBacks: writeBacks.take() };
  } finally {
    close();
  }
}

function threw(type: string, cause: string): RunEnding {
  return { kind: 'threw', type, cause };
}
