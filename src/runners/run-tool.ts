import type { ModuleDefinition, ToolDefinition } from '../authoring/define-module.ts';
import { parseWith, type Parsed } from '../authoring/standard-schema.ts';
import { findSurfaceTool } from '../authoring/surface-tools.ts';
import { readToolFailure } from '../authoring/tool-failure.ts';
import { classifyThrown } from '../domain/classify-thrown.ts';
import type { Soon } from '../domain/soon.ts';
import type { RunEnding, RunRequest } from '../ports/tool-runner.ts';
import { copyJson } from './copy-json.ts';
import { describeThrown } from './describe-thrown.ts';
import { CallContext, type RunFacts, type RunHost } from './open-context.ts';
import { endingOfInput } from './plain-input.ts';
import { endingOfReturned } from './plain-result.ts';
import { InputRequired } from './request-input.ts';

export function factsOf(request: RunRequest, timeoutMs = request.timeoutMs): RunFacts {
  const { tool, callId, fence, identity, untrusted, setup, trace, services } = request;
  const facts: RunFacts = {
    toolId: tool.id,
    maxResultBytes: tool.limits.maxResultBytes,
    callId,
    fence,
    identity,
    untrusted,
    arguments: request.arguments,
    setup,
    timeoutMs,
    trace,
    ...(services === undefined ? {} : { services: services.offered }),
  };
  return request.input === undefined ? facts : { ...facts, input: request.input };
}

/** Runs the tool once its module is there. `load` may run the module's top-level code. */
export async function runTool(
  load: () => Promise<ModuleDefinition>,
  toolName: string,
  facts: RunFacts,
  host: RunHost,
): Promise<RunEnding> {
  try {
    return await runLoaded(await load(), toolName, facts, host);
  } catch (thrown) {
    return { kind: 'threw', ...describeThrown(thrown) };
  }
}

/**
 * Enters tool code and says how it ended, at once if neither a schema nor the tool makes us wait. Never throws and never rejects,
 * whatever the tool throws or returns; time is the runner's business.
 */
export function runLoaded(module: ModuleDefinition, toolName: string, facts: RunFacts, host: RunHost): Soon<RunEnding> {
  try {
    const definition = Object.hasOwn(module.tools, toolName)
      ? module.tools[toolName]
      : findSurfaceTool(module, toolName);
    if (typeof definition?.run !== 'function') return threw('ToolMissing', `${toolName} has no function "run"`);
    // Copies: what the tool does to its arguments must not reach the caller's records.
    const setup = parseWith(module.setup, copyJson(facts.setup));
    if (setup instanceof Promise) return runSlowly(definition, setup, facts, host);
    if (setup.kind === 'issues') return threw('SetupInvalid', setup.problems.join('; '));
    const args = parseWith(definition.input, copyJson(facts.arguments));
    return args instanceof Promise
      ? runSlowly(definition, setup, facts, host, args)
      : enter(definition, args, setup.value, facts, host);
  } catch (thrown) {
    return { kind: 'threw', ...describeThrown(thrown) };
  }
}

/** A schema of this tool takes its time. */
async function runSlowly(
  definition: ToolDefinition,
  parsing: Soon<Parsed>,
  facts: RunFacts,
  host: RunHost,
  args?: Promise<Parsed>,
): Promise<RunEnding> {
  try {
    const setup = await parsing;
    if (setup.kind === 'issues') return threw('SetupInvalid', setup.problems.join('; '));
    const parsed = await (args ?? parseWith(definition.input, copyJson(facts.arguments)));
    return await enter(definition, parsed, setup.value, facts, host);
  } catch (thrown) {
    return { kind: 'threw', ...describeThrown(thrown) };
  }
}

function enter(
  definition: ToolDefinition,
  args: Parsed,
  setup: unknown,
  facts: RunFacts,
  host: RunHost,
): Soon<RunEnding> {
  if (args.kind === 'issues') return { kind: 'invalid-arguments', problems: args.problems };
  // Loading and parsing took time; a run that was stopped meanwhile must not begin.
  host.throwIfAborted();
  const context = new CallContext(facts, setup, host);
  try {
    const returned: unknown = definition.run(args.value, context);
    return isThenable(returned) ? endLater(returned, context, facts) : endOfReturned(returned, context, facts);
  } catch (thrown) {
    return endOfThrown(thrown, context, facts);
  }
}

async function endLater(returned: PromiseLike<unknown>, context: CallContext, facts: RunFacts): Promise<RunEnding> {
  try {
    return endOfReturned(await returned, context, facts);
  } catch (thrown) {
    return endOfThrown(thrown, context, facts);
  }
}

function endOfReturned(returned: unknown, context: CallContext, facts: RunFacts): RunEnding {
  return endingOfReturned(returned, CallContext.close(context), facts.maxResultBytes);
}

function endOfThrown(thrown: unknown, context: CallContext, { maxResultBytes }: RunFacts): RunEnding {
  const writeBacks = CallContext.close(context);
  if (thrown instanceof InputRequired)
    return endingOfInput(thrown.required, thrown.unavailable, writeBacks, maxResultBytes);
  const failure = readToolFailure(thrown);
  if (failure === undefined) return { kind: 'threw', ...describeThrown(thrown) };
  const fault = classifyThrown(thrown);
  return { kind: 'refused', ...failure, ...(fault === undefined ? {} : { fault }), writeBacks };
}

/** As `await` would see it. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}

function threw(type: string, cause: string): RunEnding {
  return { kind: 'threw', type, cause };
}
