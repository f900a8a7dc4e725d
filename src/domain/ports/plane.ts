import type { SubjectLimits } from '../call/subject-share.ts';
import type { ToolId, WorkerId } from '../identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Outcome, OutcomeKind } from '../outcome/outcome.ts';
import type { Policy } from '../policy/policy.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { RunnerName, ToolDeclaration } from '../tool/tool.ts';
import type { TraceContext } from '../call/trace-context.ts';
import type { ApprovalNotifier } from './approval-notifier.ts';
import type { ArgumentSealer } from './argument-sealer.ts';
import type { EffectSource } from './call-effects.ts';
import type { Delivery, LaneState } from './call-requests.ts';
import type { CallEmitter, Events } from './events.ts';
import type { GateHooks } from './gate-hooks.ts';
import type { Log } from './log.ts';
import type { Redactor } from './redactor.ts';
import type { SecretSource } from './secret-source.ts';
import type { ServiceOpener } from './service-access.ts';
import type { WorkerStore } from './store.ts';
import type { NestedCallRequest, StopSignal, ToolRunner, ToolSource } from './tool-runner.ts';

/** A tool as a worker serves it. Immutable: a reload creates new objects, and a running call keeps the one that it started with. */
export interface ServedTool {
  readonly declaration: ToolDeclaration;
  readonly runner: RunnerName;
  readonly source: ToolSource;
  readonly setup: JsonObject;
  /** Services that its module declared; absent when there are none. */
  readonly needs?: readonly string[];
  /** Set for a tool that is built into the plane: this runner runs it, and `runner` is ignored. */
  readonly builtIn?: ToolRunner;
  /** Why the tool may not be used now; undefined when it may. Absent: it always may. */
  readonly refusal?: () => Outcome | undefined;
  /** If the tool returns a plain string that matches one of these patterns, the call counts as denied by the tool. */
  readonly denialPatterns: readonly string[];
  /** Returns the problems, each in a few words without the value; an empty list means valid. */
  readonly validateInput: (value: unknown) => string[];
  /** Fills in the defaults of the published schema; returns the same object when nothing is missing. Absent: nothing is filled in. */
  readonly fillDefaults?: (value: JsonObject) => JsonObject;
  readonly validateOutput?: (value: unknown) => string[];
}

export interface ServedTools {
  find(id: string): ServedTool | undefined;
  /** Names similar to the one asked for. */
  near(id: string): string[];
}

export interface PolicySource {
  /** Returns the policy in this version or a later one. */
  atLeast(version: number): MaybePromise<{ readonly version: number; readonly policy: Policy }>;
}

/** What the worker's stages may use. Each stage takes only its part: `needs: Pick<Plane, …>`. */
export interface Plane {
  readonly workerId: WorkerId;
  readonly store: WorkerStore;
  readonly policies: PolicySource;
  readonly runners: Readonly<Record<RunnerName, ToolRunner>>;
  readonly log: Log;
  readonly events: Events;
  /** Absent: no hooks are configured. */
  readonly hooks?: GateHooks;
  /** Absent: approvers are not notified and have to look for questions themselves. */
  readonly approvals?: ApprovalNotifier;
  /** Absent: there are no services, and no tool that needs one is served. */
  readonly services?: ServiceOpener;
  /** Absent: this worker has no platforms. */
  readonly effects?: EffectSource;
  /** Absent: the audit keeps only digests of arguments. */
  readonly redactor?: Redactor;
  /** Absent: there is no auditor's key, and nothing is sealed. */
  readonly sealer?: ArgumentSealer;
  /** Absent: there are no secrets. Stages use it only to check names. */
  readonly secrets?: Pick<SecretSource, 'knows'>;
  /** `caller`: this worker serves only the pinned tools of its process. Absent: it serves all tools that are not pinned. */
  readonly placement?: ToolDeclaration['pinned'];
  /** The tools served currently. Read once per call. */
  tools(): ServedTools;
  /**
   * Counts the live workers of this pool that serve this digest, and those that do not. Asked about a digest that this worker does not
   * serve.
   */
  peersFor(toolDigest: string): Promise<Peers>;
  /** The digest under which a tool is currently published, if it is. Asked about a tool that neither this worker nor its peers serve. */
  publishedDigest(tool: ToolId): Promise<string | undefined>;
  /**
   * Keeps the lease of a call for up to `waitMs`, without running the call and without using a slot. Returns early when the call is
   * stopped.
   */
  holdWithoutSlot(delivered: DeliveredCall, waitMs: number): Promise<void>;
  readonly nested: (parent: Delivery, frame: NestedFrame, request: NestedCallRequest) => Promise<Outcome>;
  /** Called for every settled call, for counting. */
  readonly onSettled: (outcome: OutcomeKind) => void;
  readonly settings: PlaneSettings;
  /** Limits for one subject. */
  readonly shares: SubjectLimits;
}

export interface Peers {
  readonly serving: number;
  /** Includes this worker. */
  readonly notServing: number;
}

export interface PlaneSettings {
  /** How long outcomes and keys are kept. */
  readonly retentionMs: number;
  /**
   * How long an answer of the store about session, lease, cancellation and policy is trusted. A call that waits longer before its tool
   * starts is checked again.
   */
  readonly trustSnapshotMs: number;
}

/** What a nested call inherits from its parent. The nested call ends when its parent ends, at the latest. */
export interface NestedFrame {
  readonly depth: number;
  readonly timeLeftMs: number;
  readonly signal: AbortSignal;
  /** The parent's trace; absent when it has none. */
  readonly trace?: TraceContext | undefined;
}

/** A delivery, the state of its lane right after it, and its arrival time on this process's monotonic clock. */
export interface DeliveredCall {
  readonly delivery: Delivery;
  readonly lane: LaneState;
  readonly arrivedAt: number;
  /** Aborted when the lease is lost, the call is cancelled, or the worker drains. */
  readonly signal: StopSignal;
  /** Present while there are listeners: emits the events of this call. */
  readonly events?: CallEmitter | undefined;
}
