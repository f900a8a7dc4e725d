import type { ApprovalDecision, ApprovalState, GrantId } from '../../domain/policy/approval.ts';
import { laneOfScopedId } from '../../domain/identity/ids.ts';
import type { SessionEnding } from '../../domain/identity/session.ts';
import type { SubjectShare } from '../../domain/call/subject-share.ts';
import type {
  ApprovalAsking,
  ApprovalDesk,
  ApprovalStates,
  CallbackClaims,
  AskAnswer,
  AskRequest,
  DecideAnswer,
  DecideRequest,
  RevealAnswer,
  RevealRequest,
} from '../../domain/ports/approval-store.ts';
import { checkAsk, checkDecision, checkReveal } from '../check-approval.ts';
import { asList, asNumber, asText, unexpected, wordOf } from './answers.ts';
import { principalText } from './approval-codec.ts';
import { claimCallbacks, finishCallback } from './callbacks.ts';
import { common, lease } from './change-calls.ts';
import type { NamedValues } from './function-library.ts';
import { listApprovals, listApprovalStates, matchApprovals, readApproval } from './read-approvals.ts';
import type { RedisContext } from './redis-context.ts';

type Questions = ApprovalAsking & ApprovalDesk & ApprovalStates & CallbackClaims;

export function createApprovalStore(context: RedisContext): Questions {
  return {
    askApproval: (request) => askApproval(context, request),
    decideApproval: (request) => decideApproval(context, request),
    revealApproval: (request) => revealApproval(context, request),
    readApproval: (id) => readApproval(context, id),
    listApprovals: (request) => listApprovals(context, request),
    listApprovalStates: (request) => listApprovalStates(context, request),
    matchApprovals: (request) => matchApprovals(context, request),
    claimCallbacks: (request) => claimCallbacks(context, request),
    finishCallback: (request) => finishCallback(context, request),
  };
}

async function askApproval(context: RedisContext, request: AskRequest): Promise<AskAnswer> {
  checkAsk(request);
  const { question, shares } = request;
  const lane = laneOfScopedId(request.callId);
  const { meta, live, audit } = context.lane(lane);
  const { tenant, subject } = question.identity;
  const requester = principalText({ kind: 'subject', name: `${tenant}/${subject}` });
  const answer = await context.fcall('ask_approval', {
    keys: { meta, live, audit },
    args: {
      ...common(context, lane),
      ...lease(request),
      approval: question.id,
      timeoutMs: Math.ceil(request.timeoutMs),
      question: JSON.stringify(question),
      binding: question.binding,
      decisions: question.decisions.join(' '),
      quorum: question.quorum,
      requester: question.requesterMayDecide ? '' : requester,
      mayHaveRun: request.mayHaveRun,
      wantsCallback: request.callback,
      detail: request.audit,
      masked: question.masks?.length ?? '',
      shares: `${shares.liveBytes} ${shares.parkedBytes} ${shares.pendingApprovals}`,
    },
  });
  const second = asList(answer)[1];
  switch (wordOf(answer)) {
    case 'ASKED':
      return { kind: 'asked', expiresAt: asNumber(second) };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'CANCELLED':
      return { kind: 'cancelled' };
    case 'EXPIRED':
      return { kind: 'expired' };
    case 'ENDED':
      return { kind: 'session-ended', ending: asText(second) as SessionEnding };
    case 'SHARE_FULL': {
      const share = asText(second) as SubjectShare;
      return { kind: 'share-full', share, limit: shares[share] };
    }
    default:
      throw unexpected(answer);
  }
}

async function decideApproval(context: RedisContext, request: DecideRequest): Promise<DecideAnswer> {
  checkDecision(request);
  const lane = laneOfScopedId(request.id);
  if (lane < 0 || lane >= context.lanes) return { kind: 'unknown' };
  const { meta, live, audit, calls } = context.lane(lane);
  const answer = await context.fcall('decide_approval', {
    keys: { meta, live, audit, calls },
    args: {
      ...common(context, lane),
      approval: request.id,
      binding: request.binding,
      decision: request.decision,
      by: principalText(request.by),
      comment: request.comment === undefined ? '' : JSON.stringify(request.comment),
      hasEdited: request.editedArguments !== undefined,
      edited: request.editedArguments ?? '',
      agreed: request.editedBinding ?? request.binding,
      deadlineMs: Math.ceil(request.deadlineMs),
      denied: request.denied,
      deniedMayHaveRun: request.deniedMayHaveRun,
      detail: request.audit,
      retentionMs: request.retentionMs,
      ...grantArguments(request),
    },
  });
  return toDecideAnswer(answer);
}

async function revealApproval(context: RedisContext, request: RevealRequest): Promise<RevealAnswer> {
  checkReveal(request);
  const lane = laneOfScopedId(request.id);
  if (lane < 0 || lane >= context.lanes) return { kind: 'unknown' };
  const { meta, audit, calls } = context.lane(lane);
  const answer = await context.fcall('reveal_approval', {
    keys: { meta, audit, calls },
    args: {
      ...common(context, lane),
      approval: request.id,
      binding: request.binding,
      by: principalText(request.by),
      detail: request.audit,
    },
  });
  switch (wordOf(answer)) {
    case 'REVEALED':
      return { kind: 'revealed' };
    case 'ALREADY':
      return { kind: 'already-decided', state: asText(asList(answer)[1]) as ApprovalState };
    case 'MISMATCH':
      return { kind: 'mismatch' };
    case 'NOT_YOURS':
      return { kind: 'not-yours' };
    case 'UNKNOWN':
      return { kind: 'unknown' };
    default:
      throw unexpected(answer);
  }
}

function grantArguments({ id: approval, by, grant }: DecideRequest): NamedValues {
  if (grant === undefined) return { grant: '', grantFacts: '', grantTool: '', grantMs: 0, grantUses: '' };
  const { id, lifetimeMs, usesLeft, ...facts } = grant;
  return {
    grant: id,
    grantFacts: JSON.stringify({ ...facts, approval, by }),
    grantTool: facts.tool,
    grantMs: Math.ceil(lifetimeMs),
    grantUses: usesLeft ?? '',
  };
}

function toDecideAnswer(answer: unknown): DecideAnswer {
  const [, second, third] = asList(answer);
  switch (wordOf(answer)) {
    case 'DECIDED': {
      const grant = asText(third);
      return {
        kind: 'decided',
        state: asText(second) as ApprovalState,
        ...(grant === '' ? {} : { grant: grant as GrantId }),
      };
    }
    case 'COUNTED':
      return { kind: 'counted', missing: asNumber(second) };
    case 'ALREADY':
      return { kind: 'already-decided', state: asText(second) as ApprovalState };
    case 'MISMATCH':
      return { kind: 'mismatch' };
    case 'NOT_OFFERED':
      return { kind: 'not-offered', decisions: asText(second).split(' ') as ApprovalDecision[] };
    case 'NOT_YOURS':
      return { kind: 'not-yours' };
    case 'NOT_REVEALED':
      return { kind: 'not-revealed' };
    case 'UNKNOWN':
      return { kind: 'unknown' };
    default:
      throw unexpected(answer);
  }
}
