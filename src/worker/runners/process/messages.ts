import type { JsonValue } from '../../../base/json.ts';
import type { Outcome } from '../../../domain/outcome/outcome.ts';
import type { ServiceRequest } from '../../../domain/ports/service-access.ts';
import type {
  NestedCallRequest,
  PlatformReply,
  PlatformRequest,
  Progress,
  RunEnding,
  SecretAnswer,
  ToolLogLine,
} from '../../../domain/ports/tool-runner.ts';
import type { RunFacts } from '../open-context.ts';
import type { AbortReason } from '../settle-abort.ts';
import type { LoadedCode } from './code-format.ts';

/** File descriptor of the channel in a tool's process. 0, 1 and 2 belong to the tool. */
export const CHANNEL_FD = 3;

/**
 * Messages from the worker to the process. `run` is a number that no other run of this worker has, so messages of an earlier run can be
 * recognised and ignored.
 */
export type ToProcess =
  | {
      readonly type: 'run';
      readonly run: number;
      readonly file: string;
      readonly generation: string;
      readonly tool: string;
      readonly facts: RunFacts;
      /** Time as in `monotonicMs`. After it, the process asks the worker before it starts the tool. Absent: it never asks. */
      readonly startUntil?: number;
      /** Sent once, before the first import: the content that these files had when they were loaded. */
      readonly code?: LoadedCode;
    }
  | { readonly type: 'abort'; readonly run: number; readonly why: AbortReason }
  | { readonly type: 'start-answer'; readonly run: number; readonly id: number; readonly mayStart: boolean }
  | { readonly type: 'nested-answer'; readonly run: number; readonly id: number; readonly outcome: Outcome }
  | { readonly type: 'secret-answer'; readonly run: number; readonly id: number; readonly answer: SecretAnswer }
  | { readonly type: 'nested-refusal'; readonly run: number; readonly id: number; readonly problem: string }
  | { readonly type: 'service-answer'; readonly run: number; readonly id: number; readonly value: JsonValue }
  | {
      readonly type: 'service-refusal';
      readonly run: number;
      readonly id: number;
      /** Absent: the worker could not make the request, e.g. because an argument is not JSON; no service has failed. */
      readonly code?: string;
      readonly problem: string;
    }
  | { readonly type: 'platform-answer'; readonly run: number; readonly id: number; readonly reply: PlatformReply };

/**
 * Messages from the process to the worker. `entered` is sent before any code of the tool runs: a run that did not send it can be repeated.
 */
export type FromProcess =
  | { readonly type: 'entered'; readonly run: number }
  /** The time `startUntil` has passed. The tool starts only if the worker's answer allows it. */
  | { readonly type: 'start-wanted'; readonly run: number; readonly id: number }
  | { readonly type: 'progress'; readonly run: number; readonly progress: Progress }
  | { readonly type: 'log'; readonly run: number; readonly line: ToolLogLine }
  | { readonly type: 'nested-call'; readonly run: number; readonly id: number; readonly request: NestedCallRequest }
  | { readonly type: 'secret-wanted'; readonly run: number; readonly id: number; readonly name: string }
  | { readonly type: 'service-call'; readonly run: number; readonly id: number; readonly request: ServiceRequest }
  | { readonly type: 'platform'; readonly run: number; readonly id: number; readonly request: PlatformRequest }
  | { readonly type: 'ending'; readonly run: number; readonly ending: RunEnding }
  /** An error occurred outside of any run: do not use this process again. */
  | { readonly type: 'worn'; readonly run: number; readonly cause: string };
