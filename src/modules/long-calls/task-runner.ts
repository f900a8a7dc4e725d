import { reaches } from '../../domain/identity/agent.ts';
import { indexTools } from '../../domain/tool/catalog.ts';
import type { CallRecord } from '../../domain/call/call.ts';
import { NO_WRITE_BACKS, type ContentBlock } from '../../domain/outcome/content.ts';
import { parseScopedId, type CallId } from '../../domain/identity/ids.ts';
import type { JsonValue } from '../../base/json.ts';
import type { CallCancellation, CallReader } from '../../domain/ports/call-store.ts';
import type { CatalogReader } from '../../domain/ports/catalog-store.ts';
import type { OwnCalls } from '../../domain/ports/outbound-store.ts';
import type { RunEnding, RunRequest, ToolRunner } from '../../domain/ports/tool-runner.ts';
import { cancelRequest, unsafeDigestOf } from '../../stages/accept/cancel-request.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import { pause } from '../../base/pause.ts';

export interface TaskNeeds {
  readonly store: () => CallCancellation & CallReader & CatalogReader & OwnCalls;
  readonly retentionMs: number;
}

const MAX_LISTED = 50;
/** Max live calls of a subject that `list` reads. The result is then filtered to the calls that this agent may see. */
const MAX_LOOKED_AT = 1000;
const POLL_FIRST_MS = 25;
const MAX_POLL_MS = 500;

/**
 * Runs the tools of the module `tasks`. It shows an agent its own calls and those of its delegates. Any other call gets the same answer as an
 * unknown id.
 */
export class TaskRunner implements ToolRunner {
  readonly #needs: TaskNeeds;

  constructor(needs: TaskNeeds) {
    this.#needs = needs;
  }

  async run(request: RunRequest): Promise<RunEnding> {
    try {
      return await this.#run(request);
    } catch (error) {
      return {
        kind: 'threw',
        isStarted: true,
        type: 'PlaneError',
        cause: error instanceof Error ? error.message : String(error),
      };
    }
  }

  async close(): Promise<void> {}

  #run(request: RunRequest): Promise<RunEnding> {
    switch (request.source.tool) {
      case 'check':
        return this.#wait(request, 0);
      case 'wait':
        return this.#wait(request, Number(request.arguments['seconds'] ?? 20) * 1000);
      case 'cancel':
        return this.#cancel(request);
      default:
        return this.#list(request);
    }
  }

  async #wait(request: RunRequest, waitMs: number): Promise<RunEnding> {
    const giveUpAt = performance.now() + waitMs;
    for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_POLL_MS)) {
      const found = await this.#find(request);
      if (found === undefined) return UNKNOWN;
      const leftMs = giveUpAt - performance.now();
      if (found.outcome !== undefined || leftMs <= 0) return describe(found);
      if (request.signal.aborted) return { kind: 'aborted' };
      await pause(Math.min(pauseMs, leftMs), request.signal);
    }
  }

  async #cancel(request: RunRequest): Promise<RunEnding> {
    const found = await this.#find(request);
    if (found === undefined) return UNKNOWN;
    const { callId } = found;
    const store = this.#needs.store();
    const tools = indexTools(await store.readCatalog());
    const answer = await store.cancelCall({
      ...cancelRequest(callId, this.#needs.retentionMs, 'agent'),
      ...(await unsafeDigestOf(callId, store, (tool) => tools.get(tool))),
    });
    if (answer === 'unknown') return UNKNOWN;
    const state = { cancelled: 'cancelled', cancelling: 'being cancelled', settled: 'finished before' }[answer];
    return returned({ call: callId, state });
  }

  async #list({ session, identity, callId: own }: RunRequest): Promise<RunEnding> {
    const scoped = parseScopedId(session);
    if (scoped === undefined) return returned({ calls: [] });
    const { lane, scope } = scoped;
    const found = await this.#needs.store().listOwnCalls({ lane, scope, limit: MAX_LOOKED_AT });
    const calls = found
      .filter((call) => reaches(identity, call.identity) && call.callId !== own)
      .slice(0, MAX_LISTED)
      .map((call) => ({ call: call.callId, tool: call.tool, state: stateOf(call), acceptedAt: call.acceptedAt }));
    return returned({ calls });
  }

  /**
   * Finds the call that the arguments name, if this agent may see it. The running call itself is excluded, because it would wait for its
   * own end.
   */
  async #find({ arguments: args, identity, session, callId: own }: RunRequest): Promise<CallRecord | undefined> {
    const asked = typeof args['call'] === 'string' ? args['call'] : '';
    const [scoped, mine] = [parseScopedId(asked), parseScopedId(session)];
    if (scoped === undefined || scoped.scope !== mine?.scope || scoped.lane !== mine.lane || asked === own)
      return undefined;
    const found = await this.#needs.store().readCall(asked as CallId);
    return found !== undefined && reaches(identity, found.identity) ? found : undefined;
  }
}

const UNKNOWN: RunEnding = Object.freeze({
  kind: 'refused',
  how: 'failed',
  message: 'There is no such call of yours. It may be too old: results are kept for a limited time.',
  code: 'TASK_UNKNOWN',
  writeBacks: NO_WRITE_BACKS,
});

function stateOf({ state, cancelRequested }: CallRecord): string {
  if (state === 'parked') return 'waiting for approval';
  if (state === 'settled') return 'finished';
  return cancelRequested ? 'being cancelled' : state === 'queued' ? 'queued or running' : 'running';
}

/**
 * Returns the result of the call that was found, including files and messages. How that call ended is in the member `outcome`, so that it
 * is not mistaken for the ending of the `tasks` call.
 */
function describe(found: CallRecord): RunEnding {
  const { callId: call, tool } = found;
  if (found.outcome === undefined) return returned({ call, tool, state: stateOf(found) });
  const { kind: outcome, content, structured, writeBacks, advice } = decodeOutcome(found.outcome);
  const value = {
    call,
    tool,
    state: 'finished',
    outcome,
    ...(structured === undefined ? {} : { value: structured }),
    ...(advice === undefined ? {} : { advice }),
  };
  const handedOver = writeBacks === undefined ? NO_WRITE_BACKS : { ...writeBacks, injectedTools: [] };
  return { ...returned(value, content), writeBacks: handedOver };
}

function returned(value: JsonValue, content?: readonly ContentBlock[]): Extract<RunEnding, { kind: 'returned' }> {
  return {
    kind: 'returned',
    result: { value, ...(content === undefined ? {} : { content }) },
    writeBacks: NO_WRITE_BACKS,
  };
}
