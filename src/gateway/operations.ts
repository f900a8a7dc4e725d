import type { AuditVerification } from './api/audit-schema.ts';
import type { Actor, Administered } from '../domain/identity/actor.ts';
import type { Approval, ApprovalQuestion, Grant, Principal } from '../domain/policy/approval.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import type { DeclaredAgents, DeclaredPlace } from '../domain/identity/declared-agents.ts';
import type { Asked, Explanation } from '../domain/policy/explain-call.ts';
import type { CallId } from '../domain/identity/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { ModuleDeclaration } from '../domain/tool/module.ts';
import type { Paused, Policy, PolicyRecord } from '../domain/policy/policy.ts';
import type { Serving } from '../domain/tool/serving.ts';
import type { AgentDeclaration } from '../domain/identity/selection.ts';
import type { CancelAnswer } from '../domain/ports/call-requests.ts';

/** What people do with a deployment. The CLI commands share this code. Built in `compose/`, which may use every part of the plane. */
export interface GatewayOperations {
  /** Returns a function that renders questions: with secrets masked, or revealed for an approver whose reveal the store has recorded. */
  readonly approvalRenderer: () => Promise<RenderApproval>;
  explain(asked: Asked): Promise<ExplainedCall>;
  explainer(
    catalog: Catalog,
    record: PolicyRecord,
    options?: { readonly onlyVerdict?: boolean },
  ): (asked: Asked) => Explanation;
  /** Checks a policy as a policy file is checked, and replaces the policy that has this version. */
  setPolicy(
    policy: JsonObject,
    expectedVersion: number,
    who: Administered,
  ): Promise<{ readonly version: number; readonly warnings: readonly string[]; readonly kept: readonly string[] }>;
  pause(
    target: PauseRequest,
    who: Administered,
  ): Promise<{
    readonly version: number;
    readonly changed: boolean;
    readonly paused: Paused;
    readonly warnings: readonly string[];
  }>;
  /** Declares an agent, or removes its declaration if `declaration` is `null`. */
  changeAgent(agent: DeclaredPlace, declaration: JsonObject | null, who: Administered): Promise<DeclaredAgents>;
  /** Takes modules out of the catalog. Throws MODULE_UNKNOWN, or MODULE_SERVED while a live worker has one of the named modules. */
  withdrawModules(
    request: { readonly modules: readonly string[] | 'unserved'; readonly force?: boolean },
    who: Administered,
  ): Promise<{
    readonly sequence: number;
    readonly withdrawn: readonly Pick<ModuleDeclaration, 'id' | 'version'>[];
    readonly broken: readonly string[];
  }>;
  /** Warnings about parts of a selection that are probably mistakes. */
  agentWarnings(place: DeclaredPlace, declaration: AgentDeclaration, catalog: Catalog): readonly string[];
  /** Recomputes all chains and checks all signatures. */
  verifyAudit(): Promise<Pick<AuditVerification, 'checked' | 'statements' | 'notices' | 'problems'>>;
  /** Cancels any caller's call, on behalf of an operator. */
  cancelCall(callId: CallId, actor: Actor): Promise<CancelAnswer>;
  /** Records what an operator found out about an indeterminate call. Throws CALL_UNKNOWN or CALL_NOT_INDETERMINATE. */
  resolveCall(callId: CallId, resolution: 'ran' | 'not-ran', actor: Actor): Promise<void>;
  /**
   * What a principal may do with a question. `approver`: see all of it and decide it. `requester`: see that it was asked. `stranger`: the
   * question does not exist for this principal.
   */
  readonly standing: (
    question: ApprovalQuestion,
    principal: Principal,
    policy: Policy,
  ) => 'approver' | 'requester' | 'stranger';
  /**
   * Checks the conditions of a grant for the tool of a question, and returns them in the text form that a grant stores, and as the audit
   * shows them. Throws APPROVAL_INVALID with every problem.
   */
  readonly readConditions: (
    conditions: readonly JsonObject[],
    question: Pick<ApprovalQuestion, 'tool' | 'toolDigest'>,
  ) => Promise<{ readonly conditions: string; readonly shown: readonly JsonObject[] }>;
  /** Reads the catalog, and returns what masks the conditions of grants. */
  readonly grantConditionMasker: () => Promise<
    (grant: Pick<Grant, 'tool' | 'toolDigest'>, conditions: string) => JsonObject[]
  >;
  readonly release: string;
}

export type RenderApproval = (approval: Approval, options?: { readonly revealed?: boolean }) => RenderedApproval;

export interface RenderedApproval {
  readonly title: string;
  readonly description: string;
  readonly reasons: readonly string[];
  readonly detail?: string;
  readonly arguments: RenderedArguments;
  readonly answers?: RenderedArguments;
  readonly editedArguments?: RenderedArguments;
}

export interface RenderedArguments {
  readonly text: string;
  readonly bytes: number;
  readonly digest?: string;
  readonly redacted: number;
}

export interface ExplainedCall extends Explanation {
  readonly checks: readonly (Explanation['checks'][number] & { readonly place?: string })[];
  readonly changes: readonly (Explanation['changes'][number] & {
    readonly command?: string;
    readonly edit?: string;
    readonly snippet?: object;
    readonly note?: string;
  })[];
  readonly serving?: Serving;
}

export interface PauseRequest {
  readonly what: 'all' | 'agent' | 'tool';
  readonly name?: string;
  readonly resume: boolean;
}
