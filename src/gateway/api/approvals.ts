import { z } from '@hono/zod-openapi';
import type {
  Approval,
  ApprovalDecision,
  ApprovalId,
  ApprovalQuestion,
  Principal,
} from '../../domain/policy/approval.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { parseScopedId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Decision } from '../../client/decide-request.ts';
import type { DecideAnswer, RevealAnswer } from '../../domain/ports/approval-store.ts';
import type { Authenticated } from '../authenticated.ts';
import { sayAlreadyDecided } from '../already-decided.ts';
import { finishRevocations } from '../finish-revocations.ts';
import { createProblem, problemResponse } from '../problem.ts';
import { addRoute, defined, type Api, type ApiContext, type ApiNeeds } from './api-route.ts';
import {
  approvalListQuery,
  approvalPageSchema,
  approvalSchema,
  decideAnswerSchema,
  decideRequestSchema,
  grantPageSchema,
  revealRequestSchema,
  type DecideAnswerView,
  type DecideBody,
} from './approval-schema.ts';
import { pageByCount, readCursor, writeCursor } from './cursor.ts';
import { cursorQuery, limitQuery, PAGE_LIMITS } from './page-schema.ts';
import { showGrant } from './show-grant.ts';
import { decidesAs, listApproval, looksAs, showApprovalTo, standingOfBearer, type ShowNeeds } from './show-approval.ts';

const TAG = 'approvals';
const params = z.strictObject({ id: z.string().max(256) });

export function addApprovals(api: Api, needs: ApiNeeds): void {
  const { client, store, operations } = needs.plane;

  addRoute(
    api,
    {
      method: 'get',
      path: '/approvals',
      scopes: ['operator', 'approver'],
      tag: TAG,
      summary:
        'Questions to people: pending ones first, soonest expiry first; then the others, latest first. Long arguments are cut',
      query: approvalListQuery,
      answers: { 200: { description: 'A page of them.', schema: approvalPageSchema } },
    },
    async (context, { query: { limit = PAGE_LIMITS.usual, cursor, state } }) => {
      const auth = context.get('auth');
      const skip = cursor === undefined ? 0 : Number(readCursor('approvals', { state }, cursor)[0]);
      const page = await client.approvals.page(looksAs(auth), { limit, skip, ...defined({ state }) });
      const show = await showNeeds(needs);
      const shown = await Promise.all(page.approvals.map((approval) => showApprovalTo(auth, approval, show)));
      const items = shown.flatMap((item) => (item === undefined ? [] : [listApproval(item)]));
      const { next } = page;
      return context.json(
        next === undefined ? { items } : { items, next: writeCursor('approvals', { state }, [next]) },
      );
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/approvals/{id}',
      scopes: ['operator', 'approver'],
      tag: TAG,
      summary: 'One question, with the arguments that would run',
      params,
      answers: { 200: { description: 'The question.', schema: approvalSchema } },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      const auth = context.get('auth');
      const approval = await readApproval(needs, looksAs(auth), id);
      const shown = await showApprovalTo(auth, approval, await showNeeds(needs));
      if (shown === undefined) throw unknown(id);
      return context.json(shown);
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/approvals/{id}/decide',
      scopes: ['approver'],
      tag: TAG,
      summary: 'Answer a question; the first answer wins',
      params,
      body: decideRequestSchema,
      answers: { 200: { description: 'It counts.', schema: decideAnswerSchema } },
      problems: [404, 409, 410],
    },
    async (context, { params: { id }, body }) => {
      const principal = decidesAs(context.get('auth'));
      const approval = await readApproval(needs, principal, id);
      await refuseRequester(context.get('auth'), approval);
      const { question } = approval;
      // First finish revocations that were interrupted: the questions of revoked sessions must not be allowed.
      await finishRevocations(store, needs.plane.log);
      const answer = await client.approvals.decide(
        principal,
        question.id,
        await toDecision(body, question, operations),
      );
      return answerDecision(context, question.id, answer, body.decision);
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/approvals/{id}/reveal',
      scopes: ['approver'],
      tag: TAG,
      summary: 'See what a question masks; it is written to the audit, and your yes counts only after it',
      params,
      body: revealRequestSchema,
      answers: { 200: { description: 'The question without marks.', schema: approvalSchema } },
      problems: [404, 409, 410],
    },
    async (context, { params: { id }, body: { binding } }) => {
      const auth = context.get('auth');
      const principal = decidesAs(auth);
      const approval = await readApproval(needs, principal, id);
      await refuseRequester(auth, approval);
      const answer = await client.approvals.reveal(principal, approval.question.id, { binding: binding.toLowerCase() });
      if (answer.kind !== 'revealed') return answerRefusal(approval.question.id, answer);
      const shown = await showApprovalTo(auth, approval, await showNeeds(needs), { reveal: true });
      if (shown === undefined) throw unknown(id);
      return context.json(shown);
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/grants',
      scopes: ['operator', 'approver'],
      tag: TAG,
      summary: 'Remembered answers, soonest expiry first',
      query: z.strictObject({ limit: limitQuery, cursor: cursorQuery }),
      answers: { 200: { description: 'A page of them.', schema: grantPageSchema } },
    },
    async (context, { query: { limit = PAGE_LIMITS.usual, cursor } }) => {
      const page = await pageByCount('grants', {}, { cursor, limit }, (count) =>
        client.grants.list(looksAs(context.get('auth')), { limit: count }),
      );
      const maskConditions = await operations.grantConditionMasker();
      return context.json({ ...page, items: page.items.map((grant) => showGrant(grant, maskConditions)) });
    },
  );

  addRoute(
    api,
    {
      method: 'delete',
      path: '/grants/{id}',
      scopes: ['approver'],
      tag: TAG,
      summary: 'Take a remembered answer back',
      params,
      answers: { 204: { description: 'Whoever asks from now on is asked about again.' } },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      if (parseScopedId(id) === undefined) throw planeError('GRANT_UNKNOWN', { grant: id.slice(0, 64) });
      await client.grants.revoke(decidesAs(context.get('auth')), id);
      return context.body(null, 204);
    },
  );

  async function showNeeds({ plane }: ApiNeeds): Promise<ShowNeeds> {
    const { policy } = await store.readPolicy();
    const { approvalRenderer, standing } = plane.operations;
    return { render: await approvalRenderer(), policy, standing, isRequester: needs.isRequester };
  }

  /**
   * Throws APPROVAL_NOT_YOURS unless the bearer is an approver of this question. A token that both asks and decides could otherwise allow
   * its own calls.
   */
  async function refuseRequester(auth: Authenticated, approval: Approval): Promise<void> {
    const { policy } = await store.readPolicy();
    const show = { policy, standing: operations.standing, isRequester: needs.isRequester };
    if ((await standingOfBearer(auth, approval, show)) !== 'approver') throw planeError('APPROVAL_NOT_YOURS', {});
  }
}

/** Reads a question by its whole id only. The start of an id is accepted only where people type it. */
async function readApproval({ plane }: ApiNeeds, principal: Principal, id: string): Promise<Approval> {
  if (parseScopedId(id) === undefined) throw unknown(id);
  return plane.client.approvals.get(principal, id);
}

function unknown(id: string): Error {
  return planeError('APPROVAL_UNKNOWN', { approval: id.slice(0, 64) });
}

async function toDecision(
  { decision, binding, comment, arguments: edited, grant }: DecideBody,
  question: Pick<ApprovalQuestion, 'tool' | 'toolDigest'>,
  { readConditions }: ApiNeeds['plane']['operations'],
): Promise<Decision> {
  if (edited !== undefined && decision === 'deny') {
    throw planeError('APPROVAL_INVALID', { problem: 'what is denied does not run, with no arguments at all' });
  }
  return {
    decision,
    binding: binding.toLowerCase(),
    ...(comment === undefined ? {} : { comment }),
    ...(edited === undefined ? {} : { arguments: edited as JsonObject }),
    ...(grant === undefined
      ? {}
      : {
          grant: {
            arguments:
              typeof grant.matches === 'string'
                ? grant.matches
                : await readConditions(grant.matches.conditions as JsonObject[], question),
            anyAgent: grant.agentOnly === false,
            ...(grant.lifetimeMs === undefined ? {} : { lifetimeMs: grant.lifetimeMs }),
            ...(grant.uses === undefined ? {} : { uses: grant.uses }),
          },
        }),
  };
}

function answerDecision(
  context: ApiContext,
  id: ApprovalId,
  answer: DecideAnswer,
  decision: ApprovalDecision,
): Response {
  switch (answer.kind) {
    case 'decided': {
      const { state, grant } = answer;
      const decided: DecideAnswerView = { id, state, ...(grant === undefined ? {} : { grant }) };
      return context.json(decided);
    }
    case 'counted':
      return context.json({ id, state: 'pending', missing: answer.missing } satisfies DecideAnswerView);
    case 'not-offered': {
      const offered = answer.decisions.join(', ');
      const detail = `That is not offered here. Offered: ${offered}; other arguments only where one approver is enough.`;
      return refuse(400, 'APPROVAL_INVALID', detail, { facts: { decisions: [...answer.decisions] } });
    }
    case 'not-revealed':
      throw planeError('APPROVAL_NOT_REVEALED', {});
    default:
      return answerRefusal(id, answer, decision);
  }
}

/** Answers the refusals that a decision and a reveal have in common. */
function answerRefusal(
  id: ApprovalId,
  answer: Exclude<RevealAnswer, { readonly kind: 'revealed' }>,
  decision?: ApprovalDecision,
): Response {
  switch (answer.kind) {
    case 'already-decided':
      return answerStanding(id, answer.state, decision);
    case 'mismatch':
      return refuse(409, 'APPROVAL_MISMATCH', 'The binding is not that of this question; nothing was decided.', {
        fix: 'Read the question again: what would run may not be what you saw.',
      });
    case 'not-yours':
      throw planeError('APPROVAL_NOT_YOURS', {});
    case 'unknown':
      throw unknown(id);
  }
}

/** Answers a decision that came too late with the current state of the question. */
function answerStanding(id: string, state: Approval['state'], decision: ApprovalDecision | undefined): Response {
  const status = state === 'expired' || state === 'cancelled' ? 410 : 409;
  const detail = sayAlreadyDecided(state, decision);
  return refuse(status, 'APPROVAL_ALREADY_DECIDED', detail, { facts: { approval: id, state } });
}

function refuse(status: number, code: string, detail: string, more: { fix?: string; facts?: JsonObject }): Response {
  return problemResponse(createProblem({ status, code, detail, ...more }));
}
