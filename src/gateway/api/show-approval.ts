import type { Approval, Principal } from '../../domain/policy/approval.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import type { Authenticated } from '../authenticated.ts';
import { hasScope } from '../http/require-scope.ts';
import { PREVIEW_CHARACTERS, previewOf } from '../../base/preview-text.ts';
import type { GatewayOperations, RenderApproval, RenderedArguments } from '../operations.ts';
import type { IsRequester } from '../requesters.ts';
import type { ApprovalView, ListedApprovalView, ShownArguments } from './approval-schema.ts';

/** The principal in whose name this bearer decides. */
export function decidesAs({ decidesAs: subject, name }: Authenticated): Principal {
  return subject === undefined ? { kind: 'operator', name } : { kind: 'subject', name: subject };
}

/** The principal in whose name this bearer reads. An operator sees all questions, in whatever name it decides. */
export function looksAs(auth: Authenticated): Principal {
  return hasScope(auth, 'operator') ? { kind: 'operator', name: auth.name } : decidesAs(auth);
}

export interface ShowNeeds {
  readonly render: RenderApproval;
  readonly policy: Policy;
  readonly standing: GatewayOperations['standing'];
  readonly isRequester: IsRequester;
}

/**
 * What this bearer may do with a question when it decides. A bearer that counts as the requester has the rights of the requester, not those
 * of the principal in whose name it decides.
 */
export async function standingOfBearer(
  auth: Authenticated,
  { question }: Pick<Approval, 'question'>,
  { standing, policy, isRequester }: Omit<ShowNeeds, 'render'>,
): Promise<ReturnType<GatewayOperations['standing']>> {
  const { tenant, subject } = question.identity;
  const requester: Principal = { kind: 'subject', name: `${tenant}/${subject}` };
  const decides = (await isRequester(auth, question)) ? requester : decidesAs(auth);
  return standing(question, decides, policy);
}

/**
 * Shows a question as far as this bearer may see it. Returns undefined for a stranger. `reveal`: show it without marks, because the store
 * has recorded that this bearer reveals it.
 */
export async function showApprovalTo(
  auth: Authenticated,
  approval: Approval,
  needs: ShowNeeds,
  { reveal = false }: { readonly reveal?: boolean } = {},
): Promise<ApprovalView | undefined> {
  const deciding = await standingOfBearer(auth, approval, needs);
  const isOperator = hasScope(auth, 'operator');
  const standing = isOperator ? needs.standing(approval.question, looksAs(auth), needs.policy) : deciding;
  if (standing === 'stranger') return undefined;
  const mayDecide = approval.state === 'pending' && hasScope(auth, 'approver') && deciding === 'approver';
  const me = decidesAs(auth);
  const revealed = approval.revealedBy.some(({ kind, name }) => kind === me.kind && name === me.name);
  const view = { mayDecide, withDetail: standing === 'approver', reveal, revealed: reveal || revealed };
  return showApproval(approval, needs.render, view);
}

/**
 * Shortens a question for a list: only the beginning of long arguments, and no long detail. If something is left out, the question can be
 * decided only after it was read on its own.
 */
export function listApproval({ detail, binding, ...approval }: ApprovalView): ListedApprovalView {
  const { arguments: args, answers, editedArguments } = approval;
  const texts = {
    arguments: previewArguments(args),
    ...(answers === undefined ? {} : { answers: previewArguments(answers) }),
    ...(editedArguments === undefined ? {} : { editedArguments: previewArguments(editedArguments) }),
  };
  const isLong = detail !== undefined && detail.length > PREVIEW_CHARACTERS;
  const isCut = isLong || texts.arguments.cut !== undefined || texts.answers?.cut !== undefined;
  return {
    ...approval,
    ...texts,
    ...(detail === undefined || isLong ? {} : { detail }),
    ...(isCut ? {} : { binding }),
  };
}

function previewArguments(args: ShownArguments): ShownArguments {
  const { text, cut } = previewOf(args.shown);
  return cut === 0 ? args : { ...args, shown: text, cut };
}

interface ViewOptions {
  readonly mayDecide: boolean;
  readonly withDetail: boolean;
  readonly reveal: boolean;
  readonly revealed: boolean;
}

function showApproval(
  approval: Approval,
  render: RenderApproval,
  { mayDecide, withDetail, reveal, revealed }: ViewOptions,
): ApprovalView {
  const { question, state, votes, requestedAt, expiresAt, resolvedAt, resolution, grant } = approval;
  const {
    title,
    description,
    reasons,
    detail,
    arguments: args,
    answers,
    editedArguments,
  } = render(approval, {
    revealed: reveal,
  });
  const { identity, changedBy } = question;
  return {
    id: question.id,
    callId: question.callId,
    state,
    tool: question.tool,
    toolDigest: question.toolDigest,
    agent: identity.agent,
    subject: identity.subject,
    tenant: identity.tenant,
    session: question.session,
    run: question.run,
    title,
    description,
    reasons: [...reasons],
    severity: question.severity,
    askers: question.askers.map(({ kind, id, grantable }) => ({ kind, id, grantable })),
    ...(detail === undefined || !withDetail ? {} : { detail }),
    decisions: [...question.decisions],
    quorum: question.quorum,
    votes: votes.map(({ by, decision, at, comment }) => ({
      by,
      decision,
      at,
      ...(comment === undefined ? {} : { comment }),
    })),
    requestedAt,
    expiresAt,
    ...(resolvedAt === undefined ? {} : { resolvedAt }),
    ...(resolution === undefined ? {} : { resolution }),
    arguments: {
      ...showArguments(args),
      ...(changedBy === undefined ? {} : { changedBy: changedBy.map(({ hook }) => hook) }),
    },
    ...(answers === undefined ? {} : { answers: showArguments(answers) }),
    ...(editedArguments === undefined ? {} : { editedArguments: showArguments(editedArguments) }),
    binding: question.binding,
    masked: question.masks?.length !== 0,
    revealed,
    // Not editable with a quorum of several approvers: each of them would have to see how the others edited the arguments.
    editable: state === 'pending' && question.quorum === 1,
    mayDecide,
    ...(grant === undefined ? {} : { grant }),
    identity,
  };
}

function showArguments({ text, bytes, digest, redacted }: RenderedArguments): ShownArguments {
  return { shown: text, bytes, ...(digest === undefined ? {} : { digest }), redacted: redacted > 0 };
}
