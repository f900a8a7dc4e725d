import type { AuditVerification } from './api/audit-schema.ts';
import type { Actor, Administered } from '../domain/actor.ts';
import type { Approval, ApprovalQuestion, Principal } from '../domain/approval.ts';
import type { Catalog } from '../domain/catalog.ts';
import type { DeclaredAgents, DeclaredPlace } from '../domain/declared-agents.ts';
import type { Asked, Explanation } from '../domain/explain-call.ts';
import type { CallId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ModuleDeclaration } from '../domain/module.ts';
import type { Paused, Policy, PolicyRecord } from '../domain/policy.ts';
import type { Serving } from '../domain/serving.ts';
import type { AgentDeclaration } from '../domain/selection.ts';
import type { CancelAnswer } from '../ports/call-store.ts';

/** What people do with a deployment, in code shared with the commands. Joined in `compose/`, which may use every part of the plane. */
export interface GatewayOperations {
  /** How questions are shown: with marks, or revealed to an approver whose reveal the store has recorded. */
  readonly approvalRenderer: () => Promise<RenderApproval>;
  explain(asked: Asked): Promise<ExplainedCall>;
  explainer(
    catalog: Catalog,
    record: PolicyRecord,
    options?: { readonly onlyVerdict?: boolean },
  ): (asked: Asked) => Explanation;
  /** Checks a policy as a policy file is checked, and puts it in the place of the one with this version. */
  setPolicy(
    policy: JsonObject,
    expectedVersion: number,
    who: Administered,
  ): Promise<{ readonly version: number; readonly warnings: readonly string[]; readonly kept: readonly string[] }>;
  pause(
    target: PauseWish,
    who: Administered,
  ): Promise<{
    readonly version: number;
    readonly changed: boolean;
    readonly paused: Paused;
    readonly warnings: readonly string[];
  }>;
  /** Declares an agent, or takes it away with `null`. */
  changeAgent(agent: DeclaredPlace, declaration: JsonObject | null, who: Administered): Promise<DeclaredAgents>;
  /** Takes modules out of the catalog. Throws MODULE_UNKNOWN, or MODULE_SERVED while a live worker has one of the named ones. */
  withdrawModules(
    request: { readonly modules: readonly string[] | 'unserved'; readonly force?: boolean },
    who: Administered,
  ): Promise<{
    readonly sequence: number;
    readonly withdrawn: readonly Pick<ModuleDeclaration, 'id' | 'version'>[];
    readonly broken: readonly string[];
  }>;
  /** What a selection probably does not mean. */
  agentWarnings(place: DeclaredPlace, declaration: AgentDeclaration, catalog: Catalog): readonly string[];
  /** Recomputes all chains and checks all signatures. */
  verifyAudit(): Promise<Pick<AuditVerification, 'checked' | 'statements' | 'notices' | 'problems'>>;
  /** By an operator, whoever's call it is. */
  cancelCall(callId: CallId, actor: Actor): Promise<CancelAnswer>;
  /** An operator's word on an indeterminate call. Throws CALL_UNKNOWN or CALL_NOT_INDETERMINATE. */
  resolveCall(callId: CallId, resolution: 'ran' | 'not-ran', actor: Actor): Promise<void>;
  /** `approver`: sees everything and decides. `requester`: sees that it was asked. `stranger`: there is no such approval. */
  readonly standing: (
    question: ApprovalQuestion,
    principal: Principal,
    policy: Policy,
  ) => 'approver' | 'requester' | 'stranger';
  /** Throws APPROVAL_INVALID with every problem. Returns them as a grant keeps them. */
  readonly readConditions: (conditions: readonly JsonObject[]) => string;
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

export interface PauseWish {
  readonly what: 'all' | 'agent' | 'tool';
  readonly name?: string;
  readonly resume: boolean;
}
