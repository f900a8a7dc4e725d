import { describe } from 'vitest';
import { prepareScene, type CreateBackend, type Scene } from './scene.ts';
import { describeAccept } from './topics/accept.ts';
import { describeAdministration } from './topics/administration.ts';
import { describeAdmission } from './topics/admission.ts';
import { describeLaneUse } from './topics/lane-use.ts';
import { describeAttempts } from './topics/attempts.ts';
import { describeKeptAttempts } from './topics/attempts-kept.ts';
import { describeCallbacks } from './topics/approvals-callback.ts';
import { describeDeciding } from './topics/approvals-decide.ts';
import { describeApprovalEnds } from './topics/approvals-end.ts';
import { describeAsking } from './topics/approvals-ask.ts';
import { describeRevealing } from './topics/approvals-reveal.ts';
import { describeAudit } from './topics/audit.ts';
import { describeCancel } from './topics/cancel.ts';
import { describeCatalog } from './topics/catalog.ts';
import { describePins } from './topics/pins.ts';
import { describeClaim } from './topics/claim.ts';
import { describeDeadlines } from './topics/deadlines.ts';
import { describeAgents } from './topics/agents.ts';
import { describeDelegates } from './topics/delegates.ts';
import { describeFairness } from './topics/fairness.ts';
import { describeFleet } from './topics/fleet.ts';
import { describeGrants } from './topics/grants.ts';
import { describeIncarnation } from './topics/incarnation.ts';
import { describeInjected } from './topics/injected.ts';
import { describeLoopEnds } from './topics/loop-ends.ts';
import { describeModelBased } from './topics/model-based.ts';
import { describeNested } from './topics/nested.ts';
import { describeOutbound } from './topics/outbound.ts';
import { describeOwed } from './topics/owed.ts';
import { describePolicy } from './topics/policy.ts';
import { describeRaces } from './topics/races.ts';
import { describeRecover } from './topics/recover.ts';
import { describeReplies } from './topics/replies.ts';
import { describeRequeued } from './topics/requeued.ts';
import { describeRuns } from './topics/runs.ts';
import { describeSerial } from './topics/serial.ts';
import { describeSessionProof } from './topics/session-proof.ts';
import { describeShares } from './topics/shares.ts';
import { describeSessions } from './topics/sessions.ts';
import { describeSettle } from './topics/settle.ts';
import { describeStart } from './topics/start.ts';
import { describeOnce } from './topics/tokens-once.ts';
import { describeTokenRevocation } from './topics/token-revocation.ts';
import { describeTokens } from './topics/tokens.ts';
import { describeWaiters } from './topics/waiters.ts';

const TOPICS = {
  accept: describeAccept,
  nested: describeNested,
  admission: describeAdmission,
  'lane use': describeLaneUse,
  administration: describeAdministration,
  claim: describeClaim,
  recover: describeRecover,
  start: describeStart,
  attempts: describeAttempts,
  'attempts kept': describeKeptAttempts,
  'runs ended by a loop': describeLoopEnds,
  settle: describeSettle,
  cancel: describeCancel,
  'approvals asked': describeAsking,
  'approvals decided': describeDeciding,
  'approvals revealed': describeRevealing,
  'approvals ended': describeApprovalEnds,
  'approval callbacks': describeCallbacks,
  grants: describeGrants,
  deadlines: describeDeadlines,
  requeued: describeRequeued,
  fairness: describeFairness,
  serial: describeSerial,
  sessions: describeSessions,
  shares: describeShares,
  runs: describeRuns,
  'session proof': describeSessionProof,
  delegates: describeDelegates,
  'agents of one subject': describeAgents,
  'injected tools': describeInjected,
  policy: describePolicy,
  catalog: describeCatalog,
  pins: describePins,
  fleet: describeFleet,
  replies: describeReplies,
  waiters: describeWaiters,
  audit: describeAudit,
  outbound: describeOutbound,
  'calls owed': describeOwed,
  tokens: describeTokens,
  'revoked tokens': describeTokenRevocation,
  'used once': describeOnce,
  incarnation: describeIncarnation,
  races: describeRaces,
  model: describeModelBased,
} as const satisfies Record<string, (scene: Scene) => void>;

export type Topic = keyof typeof TOPICS;
export const ALL_TOPICS = Object.keys(TOPICS) as readonly Topic[];

/** The contract that every implementation of `Store` must fulfil. Each test gets a backend of its own, so tests share nothing. */
export function describeStoreContract(
  name: string,
  createBackend: CreateBackend,
  topics: readonly Topic[] = ALL_TOPICS,
): void {
  describe(`${name} store`, () => {
    const scene = prepareScene(createBackend);
    for (const topic of topics) {
      const register = TOPICS[topic];
      describe(`${topic}`, () => {
        register(scene);
      });
    }
  });
}
