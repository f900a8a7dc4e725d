import { ProtocolError, SdkError, SdkHttpError, type ProgressCallback } from '@modelcontextprotocol/client';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { ToolId } from '../../domain/identity/ids.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { definitionKey, type UpstreamDefinition } from '../../domain/upstream/definition.ts';
import { NO_WRITE_BACKS } from '../../domain/outcome/content.ts';
import type { RunEnding, RunRequest, StopSignal, ToolRunner } from '../../domain/ports/tool-runner.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { scrubEnding } from '../../worker/secrets/scrub-ending.ts';
import { limitProgress } from '../../worker/runners/limit-progress.ts';
import { ANY_RESULT } from '../any-result.ts';
import type { Instance } from '../connect/instance.ts';
import type { Instances } from '../connect/instances.ts';
import { UpstreamProblem } from '../upstream-problem.ts';
import { endingOfCompletion, endingOfContents, endingOfPrompt, endingOfToolResult } from './read-result.ts';

export interface RunnerNeeds {
  readonly upstream: string;
  readonly instances: Pick<Instances, 'acquire' | 'release'>;
  /** What an entry of the module is at the server; undefined if the entry is not published in exactly this form any more. */
  definitionOf(tool: ToolDeclaration): UpstreamDefinition | undefined;
  /** The digest under which a definition is published; a connection that offers another one may not be used for it. */
  digestOf(key: string): string | undefined;
}

/**
 * Runs the entries of a module whose code is in an MCP server. A call is sent once: if the connection is lost while the server has it, the
 * call ends as one that may have run.
 */
export class UpstreamRunner implements ToolRunner {
  readonly #needs: RunnerNeeds;

  constructor(needs: RunnerNeeds) {
    this.#needs = needs;
  }

  async run(request: RunRequest): Promise<RunEnding> {
    const { tool, signal, identity, session } = request;
    const definition = this.#needs.definitionOf(tool);
    if (definition === undefined) return quarantined(request, this.#needs.upstream, 'has changed');
    const startedAt = performance.now();
    const stopping = new Stopping(signal, request.timeoutMs);
    let instance: Instance;
    try {
      const acquired = this.#needs.instances.acquire({ identity, session });
      // If the call ends before the connection is there, the connection is not counted as used by it.
      const first = await Promise.race([acquired, stopping.stopped]);
      if (first === undefined) {
        void acquired.then((late) => this.#needs.instances.release(late)).catch(() => undefined);
        return stopping.endingBeforeStart(tool.id, this.#needs.upstream);
      }
      instance = first;
    } catch (error) {
      return unavailable(request, this.#needs.upstream, error instanceof UpstreamProblem ? error.message : 'it failed');
    } finally {
      stopping.close();
    }
    try {
      // Starting a server takes time. The verdict that allowed the call may be too old now.
      const stop = await request.start?.stopFor();
      if (stop !== undefined) return stop;
      const refused = this.#refusalOf(instance, definition, request);
      if (refused !== undefined) return refused;
      const leftMs = request.timeoutMs - (performance.now() - startedAt);
      const ending = await send(instance, definition, request, Math.max(1, Math.round(leftMs)), this.#needs.upstream);
      return instance.taint.isEmpty ? ending : scrubEnding(ending, instance.taint, tool.limits.maxResultBytes);
    } finally {
      this.#needs.instances.release(instance);
    }
  }

  async close(): Promise<void> {}

  /** A connection may offer something else than what is published: the server was changed, or behaves differently for this user. */
  #refusalOf(instance: Instance, definition: UpstreamDefinition, request: RunRequest): RunEnding | undefined {
    const key = definitionKey(definition);
    const offered = instance.offered.get(key);
    if (offered !== undefined && offered === this.#needs.digestOf(key)) return undefined;
    return quarantined(request, this.#needs.upstream, offered === undefined ? 'is gone' : 'has changed');
  }
}

/** Resolves when the call is stopped or its time is over, before the server has got it. */
class Stopping {
  readonly stopped: Promise<undefined>;
  readonly #signal: StopSignal;
  readonly #stop: () => void;
  readonly #timer: NodeJS.Timeout;

  constructor(signal: StopSignal, timeoutMs: number) {
    let resolve!: (value: undefined) => void;
    this.stopped = new Promise<undefined>((done) => (resolve = done));
    this.#signal = signal;
    this.#stop = () => resolve(undefined);
    this.#timer = setTimeout(this.#stop, timeoutMs);
    signal.addEventListener('abort', this.#stop, { once: true });
    if (signal.aborted) this.#stop();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#stop);
  }

  endingBeforeStart(tool: ToolId, upstream: string): RunEnding {
    if (this.#signal.aborted)
      return { kind: 'not-run', outcome: errorOutcome('CALL_CANCELLED', {}, { executed: 'no' }) };
    const problem = 'it was not connected in the time of the call';
    return { kind: 'not-run', outcome: errorOutcome('UPSTREAM_UNAVAILABLE', { tool, upstream, problem }) };
  }
}

function quarantined({ tool }: RunRequest, upstream: string, change: string): RunEnding {
  return { kind: 'not-run', outcome: errorOutcome('TOOL_QUARANTINED', { tool: tool.id, upstream, change }) };
}

function unavailable({ tool }: RunRequest, upstream: string, problem: string): RunEnding {
  return { kind: 'not-run', outcome: errorOutcome('UPSTREAM_UNAVAILABLE', { tool: tool.id, upstream, problem }) };
}

async function send(
  instance: Instance,
  definition: UpstreamDefinition,
  request: RunRequest,
  timeoutMs: number,
  upstream: string,
): Promise<RunEnding> {
  const { signal } = request;
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const progress = limitProgress((report) => request.onProgress(report));
  const onprogress: ProgressCallback = ({ progress: done, total, message }) =>
    progress.report({
      done,
      total,
      message: message === undefined ? undefined : instance.taint.scrubText(message, true),
    });
  try {
    const asked = requestOf(definition, request.arguments);
    const options = { signal: stop.signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs, onprogress };
    const result = (await instance.client.request(asked, ANY_RESULT, options)) as unknown as JsonObject;
    return readResult(definition, request.arguments, result, request.tool.limits.maxResultBytes);
  } catch (error) {
    return endingOfError(error, instance, request, upstream);
  } finally {
    progress.close();
    signal.removeEventListener('abort', onAbort);
  }
}

interface Asked {
  readonly method: string;
  readonly params: JsonObject;
}

function requestOf(definition: UpstreamDefinition, args: JsonObject): Asked {
  const { kind, name } = definition;
  const { complete } = args;
  if (isJsonObject(complete)) return completionOf(definition, complete);
  switch (kind) {
    case 'tool':
      return { method: 'tools/call', params: { name, arguments: args } };
    case 'resource':
      return { method: 'resources/read', params: { uri: name } };
    case 'template':
      return { method: 'resources/read', params: { uri: args['uri'] ?? name } };
    case 'prompt':
      return { method: 'prompts/get', params: { name, arguments: args['arguments'] ?? {} } };
  }
}

function completionOf({ kind, name }: UpstreamDefinition, { argument, value, known }: JsonObject): Asked {
  const ref: JsonObject = kind === 'prompt' ? { type: 'ref/prompt', name } : { type: 'ref/resource', uri: name };
  const context = known === undefined ? {} : { context: { arguments: known } };
  return {
    method: 'completion/complete',
    params: { ref, argument: { name: argument as JsonValue, value: value as JsonValue }, ...context },
  };
}

function readResult({ kind }: UpstreamDefinition, args: JsonObject, result: JsonObject, maxBytes: number): RunEnding {
  if (kind !== 'tool' && isJsonObject(args['complete'])) return endingOfCompletion(result, maxBytes);
  switch (kind) {
    case 'tool':
      return endingOfToolResult(result, maxBytes);
    case 'resource':
    case 'template':
      return endingOfContents(result, maxBytes);
    case 'prompt':
      return endingOfPrompt(result, maxBytes);
  }
}

const MAX_MESSAGE = 2000;

function endingOfError(error: unknown, instance: Instance, request: RunRequest, upstream: string): RunEnding {
  const { signal, tool } = request;
  if (signal.aborted) return { kind: 'aborted' };
  if (instance.goneBecause !== undefined) return lost(tool.effect, tool.id, instance.goneBecause);
  if (error instanceof ProtocolError) {
    // The server itself refused the request: arguments, an unknown name, or a failure that it reports in this way.
    const message = instance.taint.scrubText(error.message.slice(0, MAX_MESSAGE), true);
    return { kind: 'refused', how: 'failed', message, code: `MCP_${error.code}`, writeBacks: NO_WRITE_BACKS };
  }
  if (error instanceof SdkError && error.code === 'REQUEST_TIMEOUT') return { kind: 'timed-out' };
  const how = error instanceof Error ? instance.taint.scrubText(error.message.slice(0, 200), true) : 'it failed';
  // The next call needs a new connection, for example because the server was restarted and does not know this session any more. Other errors
  // concern this call only, and others may be under way on the same connection.
  if (isConnectionOver(error)) void instance.close(how);
  return didNotArrive(error) ? unavailable(request, upstream, how) : lost(tool.effect, tool.id, how);
}

/** Codes of a connection that was not made at all. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];
/** The server did not take the request: not understood, not allowed, or a session that it does not know. */
const NOT_TAKEN = [400, 401, 403, 404];

function isConnectionOver(error: unknown): boolean {
  return error instanceof SdkHttpError
    ? NOT_TAKEN.includes(error.status)
    : (error as { cause?: unknown } | null)?.cause !== undefined;
}

/** True if the server certainly did not run the call: no connection was made, or it did not take the request. */
function didNotArrive(error: unknown): boolean {
  if (error instanceof SdkHttpError) return NOT_TAKEN.includes(error.status);
  const code = (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return typeof code === 'string' && NOT_CONNECTED.includes(code);
}

/** The server had the call when the connection ended. What was not unsafe may be called again; anything else may have run. */
function lost(effect: string, tool: ToolId, how: string): RunEnding {
  if (effect !== 'unsafe') return { kind: 'crashed', how };
  return { kind: 'not-run', outcome: errorOutcome('UPSTREAM_LOST', { tool, how }, { executed: 'unknown' }) };
}
