import { fileURLToPath } from 'node:url';
import { toolId, type CallId, type RunId, type SessionId } from '../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Outcome } from '../../src/domain/outcome/outcome.ts';
import { DEFAULT_LIMITS } from '../../src/domain/tool/tool.ts';
import type { NestedCallRequest, Progress, RunRequest, ToolLogLine } from '../../src/domain/ports/tool-runner.ts';

export interface Seen {
  readonly progress: Progress[];
  readonly log: ToolLogLine[];
  readonly nested: NestedCallRequest[];
}

export interface RequestChange {
  readonly args?: JsonObject;
  readonly setup?: JsonObject;
  readonly timeoutMs?: number;
  readonly maxResultBytes?: number;
  readonly signal?: AbortSignal;
  readonly generation?: string;
  /** Called with each log line as it comes. Tools log where they are, so that a test can react. */
  readonly onLog?: (line: ToolLogLine) => void;
}

let calls = 0;

/** A request to run `module.tool` of the fixture modules, and what the run sends while it is under way. */
export function runRequest(id: string, change: RequestChange = {}): { request: RunRequest; seen: Seen } {
  const [module = '', tool = ''] = id.split('.');
  const seen: Seen = { progress: [], log: [], nested: [] };
  const answer: Outcome = {
    kind: 'ok',
    executed: 'yes',
    retryable: false,
    content: [],
    structured: { answered: true },
  };
  calls += 1;
  const request: RunRequest = {
    tool: {
      id: toolId(module, tool),
      description: 'x',
      inputSchema: { type: 'object' },
      effect: 'read',
      privileged: false,
      serial: false,
      limits: { ...DEFAULT_LIMITS, maxResultBytes: change.maxResultBytes ?? DEFAULT_LIMITS.maxResultBytes },
      digest: '',
    },
    source: {
      file: fileURLToPath(new URL(`../fixtures/modules/${module}.mjs`, import.meta.url)),
      generation: change.generation ?? '1',
      module,
      tool,
    },
    callId: `0.aaaaaaaaaaaa.${String(calls).padStart(22, '0')}` as CallId,
    fence: 7,
    identity: { tenant: 'acme', subject: 'ann', agent: 'main' },
    session: 's' as SessionId,
    run: 'r' as RunId,
    arguments: change.args ?? {},
    untrusted: { name: 'Ann' },
    setup: change.setup ?? {},
    timeoutMs: change.timeoutMs ?? 20_000,
    signal: change.signal ?? new AbortController().signal,
    onProgress: (progress) => seen.progress.push(progress),
    onLog: (line) => {
      seen.log.push(line);
      change.onLog?.(line);
    },
    onNestedCall: (nested) => {
      seen.nested.push(nested);
      return Promise.resolve(answer);
    },
  };
  return { request, seen };
}
