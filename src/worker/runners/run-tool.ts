import type { ModuleDefinition, ToolDefinition } from '../../modules/authoring/define-module.ts';
import { isStandardSchema, parseWith, type Parsed } from '../../modules/authoring/standard-schema.ts';
import { findSurfaceTool } from '../../modules/authoring/surface-tools.ts';
import { readToolFailure } from '../../modules/authoring/tool-failure.ts';
import { classifyThrown } from '../../domain/outcome/classify-thrown.ts';
import { type MaybePromise, isThenable } from '../../base/maybe-promise.ts';
import type { RunEnding, RunRequest } from '../../domain/ports/tool-runner.ts';
import { checkArguments } from '../../domain/call/check-arguments.ts';
import { copyJson } from './copy-json.ts';
import { describeThrown } from './describe-thrown.ts';
import { findChanges } from './find-changes.ts';
import { CallContext, type RunFacts, type RunHost } from './open-context.ts';
import { endingOfInput } from './plain-input.ts';
import { endingOfReturned } from './plain-result.ts';
import { AnswersTransformed, InputRequired } from './request-input.ts';

const NO_CHANGES: readonly string[] = Object.freeze([]);

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
    ...stepOf(request),
  };
  return request.input === undefined ? facts : { ...facts, input: request.input };
}

/** The arguments of a normalising tool were parsed before the rules judged them. Parsing them again could change what was judged. */
function stepOf({ step, tool }: RunRequest): Pick<RunFacts, 'step'> {
  if (step !== undefined) return { step };
  return tool.normalises === true ? { step: 'parsed' } : {};
}

/** Loads the module and then runs the tool. `load` may run the module's top-level code. */
export async function runTool(
  load: () => Promise<ModuleDefinition>,
  toolName: string,
  facts: RunFacts,
  host: RunHost,
): Promise<RunEnding> {
  try {
    return await runLoaded(await load(), toolName, facts, host);
  } catch (thrown) {
    return threwBefore(thrown);
  }
}

/**
 * Runs the tool and returns its ending, synchronously unless a schema or the tool is asynchronous. Never throws and never rejects, whatever
 * the tool throws or returns. The runner enforces the timeout.
 */
export function runLoaded(
  module: ModuleDefinition,
  toolName: string,
  facts: RunFacts,
  host: RunHost,
): MaybePromise<RunEnding> {
  try {
    const definition = Object.hasOwn(module.tools, toolName)
      ? module.tools[toolName]
      : findSurfaceTool(module, toolName);
    if (typeof definition?.run !== 'function') return notStarted('ToolMissing', `${toolName} has no function "run"`);
    if (facts.step === 'normalise') return normalise(definition, facts, host);
    // Copies, so that changes the tool makes to its arguments do not reach the caller's records.
    const setup = parseWith(module.setup, copyJson(facts.setup));
    if (setup instanceof Promise) return runSlowly(definition, setup, facts, host);
    if (setup.kind === 'issues') return notStarted('SetupInvalid', setup.problems.join('; '));
    const args = parseArguments(definition, facts);
    return args instanceof Promise
      ? runSlowly(definition, setup, facts, host, args)
      : enter(definition, args, setup.value, facts, host);
  } catch (thrown) {
    return threwBefore(thrown);
  }
}

function parseArguments({ input }: ToolDefinition, { arguments: given, step }: RunFacts): MaybePromise<Parsed> {
  const copy = copyJson(given);
  return step === 'parsed' ? { kind: 'parsed', value: copy } : parseWith(input, copy);
}

function normalise({ input }: ToolDefinition, facts: RunFacts, host: RunHost): MaybePromise<RunEnding> {
  host.throwIfAborted();
  const parsing = parseWith(input, copyJson(facts.arguments));
  return parsing instanceof Promise ? parsing.then(endOfNormalised, endOfFailedParse) : endOfNormalised(parsing);
}

/** Writes the normalised arguments as JSON text before they leave a tool's process: values that JSON cannot express are found here. */
function endOfNormalised(parsed: Parsed): RunEnding {
  if (parsed.kind === 'issues') return { kind: 'invalid-arguments', problems: parsed.problems };
  const written = checkArguments(parsed.value);
  if (written.ok) return { kind: 'normalised', arguments: written.canonical };
  const { facts } = written;
  return { kind: 'not-json', problem: 'problem' in facts ? facts.problem : `they have ${facts.is} ${facts.what}` };
}

function endOfFailedParse(thrown: unknown): RunEnding {
  return threwBefore(thrown);
}

/** Runs a tool that has an asynchronous schema. */
async function runSlowly(
  definition: ToolDefinition,
  parsing: MaybePromise<Parsed>,
  facts: RunFacts,
  host: RunHost,
  args?: Promise<Parsed>,
): Promise<RunEnding> {
  try {
    const setup = await parsing;
    if (setup.kind === 'issues') return notStarted('SetupInvalid', setup.problems.join('; '));
    const parsed = await (args ?? parseArguments(definition, facts));
    return await enter(definition, parsed, setup.value, facts, host);
  } catch (thrown) {
    return threwBefore(thrown);
  }
}

function enter(
  definition: ToolDefinition,
  args: Parsed,
  setup: unknown,
  facts: RunFacts,
  host: RunHost,
): MaybePromise<RunEnding> {
  if (args.kind === 'issues') return { kind: 'invalid-arguments', problems: args.problems };
  // The rules judged `facts.arguments`. A schema that trims or lowercases could turn an allowed value into one that the rules deny, so the
  // tool does not run if the schema has changed anything.
  const changes = facts.step === 'parsed' ? NO_CHANGES : findChanges(facts.arguments, args.value);
  if (changes.length > 0) return { kind: 'changed-arguments', changes };
  // Loading and parsing took time. A run that was stopped meanwhile, or that is no longer allowed, must not begin.
  const stop = host.stopFor?.();
  if (stop === undefined) return enterNow(definition, args.value, setup, facts, host);
  return stop instanceof Promise ? enterUnless(stop, definition, args.value, setup, facts, host) : stop;
}

async function enterUnless(
  stopping: Promise<RunEnding | undefined>,
  ...entry: Parameters<typeof enterNow>
): Promise<RunEnding> {
  try {
    return (await stopping) ?? (await enterNow(...entry));
  } catch (thrown) {
    return threwBefore(thrown);
  }
}

function enterNow(
  definition: ToolDefinition,
  args: unknown,
  setup: unknown,
  facts: RunFacts,
  host: RunHost,
): MaybePromise<RunEnding> {
  host.throwIfAborted();
  const context = new CallContext(facts, setup, host);
  try {
    const returned: unknown = definition.run(judgedOf(definition, args, facts), context);
    return isThenable(returned) ? endLater(returned, context, facts) : endOfReturned(returned, context, facts);
  } catch (thrown) {
    return endOfThrown(thrown, context, facts);
  }
}

/**
 * Returns the arguments that the rules judged, not the equal object that the schema returned. That object may still change: it may have
 * accessors, be a Proxy, or be held by the schema's code. A plain JSON Schema has no code, so its value is a copy made by the runner.
 */
function judgedOf({ input }: ToolDefinition, parsed: unknown, { step, arguments: judged }: RunFacts): unknown {
  return step === 'parsed' || !isStandardSchema(input) ? parsed : copyJson(judged);
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

function endOfThrown(thrown: unknown, context: CallContext, facts: RunFacts): RunEnding {
  try {
    return readThrown(thrown, context, facts);
  } catch (unreadable) {
    // The tool threw something that throws again when it is looked at, for example a Proxy.
    return { kind: 'threw', isStarted: true, ...describeThrown(unreadable) };
  }
}

function readThrown(thrown: unknown, context: CallContext, { maxResultBytes }: RunFacts): RunEnding {
  const writeBacks = CallContext.close(context);
  if (thrown instanceof InputRequired)
    return endingOfInput(thrown.required, thrown.unavailable, writeBacks, maxResultBytes);
  if (thrown instanceof AnswersTransformed) return { kind: 'changed-answers', changes: thrown.changes };
  const failure = readToolFailure(thrown);
  if (failure === undefined) return { kind: 'threw', isStarted: true, ...describeThrown(thrown) };
  const fault = classifyThrown(thrown);
  return { kind: 'refused', ...failure, ...(fault === undefined ? {} : { fault }), writeBacks };
}

/** The ending of a run whose tool did not start, because the module's own code or a schema threw first. */
function threwBefore(thrown: unknown): RunEnding {
  return { kind: 'threw', isStarted: false, ...describeThrown(thrown) };
}

function notStarted(type: string, cause: string): RunEnding {
  return { kind: 'threw', isStarted: false, type, cause };
}
