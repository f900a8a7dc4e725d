import type { Envelope } from '../../domain/call/call.ts';
import type { SelectionAnswer } from '../../domain/identity/agent.ts';
import { ended, type Ending } from '../../domain/call/ending.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { checkRunSelection, mayBeInjected } from '../../domain/tool/injected-tools.ts';
import { namesSecrets, refuseSecrets } from '../../domain/secret/secret-use.ts';
import type { Identity } from '../../domain/identity/session.ts';
import { type MaybePromise, andThen } from '../../base/maybe-promise.ts';
import { shellWord } from '../../base/shell-word.ts';
import { findPause, type Pause } from '../../domain/policy/policy.ts';
import { judgedArguments, type JudgedArguments } from '../../gate/judged-arguments.ts';
import type { Plane, ServedTool } from '../../domain/ports/plane.ts';
import type { AdmittedCall, IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { decodeEnvelope } from '../../domain/call/envelope.ts';
import { readArguments } from '../../domain/call/read-arguments.ts';
import { decideAccess, type Access, parseIdentity } from './parse-identity.ts';
import { paceHandBack } from './pace-hand-back.ts';

type Needs = Pick<
  Plane,
  'store' | 'tools' | 'peersFor' | 'publishedDigest' | 'holdWithoutSlot' | 'placement' | 'secrets' | 'runners' | 'log'
>;

export function identify(admitted: AdmittedCall, needs: Needs): MaybePromise<IdentifiedCall | Ending> {
  const { delivery } = admitted;
  const read = readEnvelope(admitted);
  if (read.kind !== 'read') return read;
  const { envelope } = read;
  const identity = parseIdentity(delivery.identity);

  const tool = needs.tools().find(envelope.tool);
  if (tool?.declaration.digest !== envelope.toolDigest) return misplaced(admitted, envelope, tool, needs);

  const { id } = tool.declaration;
  // A pinned tool runs only in its caller's process. Whichever client put the call into this queue, another process never runs it.
  if (tool.declaration.pinned !== needs.placement) return ended(errorOutcome('TOOL_PINNED', { tool: id }));
  const call: NamedCall = { admitted, envelope, identity, tool };
  return andThen(authorise(call, needs), (permission) =>
    typeof permission === 'string' ? readAuthorised(call, permission, needs) : permission,
  );
}

/**
 * Checks under a newer policy whether the same call may still be made. The sent arguments are not read again, so that exactly the arguments
 * that the gate judged are run.
 */
export function identifyAgain(
  identified: IdentifiedCall,
  admitted: AdmittedCall,
  needs: Needs,
): MaybePromise<IdentifiedCall | Ending> {
  const call = { ...identified, admitted };
  return andThen(authorise(call, needs), (permission) =>
    typeof permission === 'string' ? withArguments(call, identified, permission, needs) : permission,
  );
}

/** Returns the policy entry that lets this caller use this tool, or the ending if it may not. */
function authorise(call: NamedCall, needs: Needs): MaybePromise<string | Ending> {
  const { admitted, identity, tool } = call;
  const refusal = tool.refusal?.();
  if (refusal !== undefined) return ended(refusal);
  const access = decideAccess(admitted.policy, tool.declaration, identity);
  if (!access.permission.allowed && access.permission.reason === 'paused') {
    const { id } = tool.declaration;
    const paused = namePause(findPause(admitted.policy.paused, id, identity)!);
    return ended(errorOutcome('PAUSED', { tool: id, agent: identity.agent, paused }));
  }
  return mayBeInjected(access.selection, tool.declaration, identity)
    ? selectInRun(call, needs).then((selection) => permissionOf(call, { ...access, selection }))
    : permissionOf(call, access);
}

/** The arguments of `sallyport pause` that name this pause. */
function namePause(pause: Pause): string {
  return pause.what === 'all' ? 'all' : `${pause.what} ${shellWord(pause.name)}`;
}

/** A call whose caller and tool are known. */
interface NamedCall {
  readonly admitted: AdmittedCall;
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
}

/**
 * Checks the selection again, with the tools that were offered to this run. Called only for a tool that is not selected but may have been
 * offered: offers are not in the delivery, so this needs a store round trip.
 */
async function selectInRun(call: NamedCall, needs: Needs): Promise<SelectionAnswer> {
  const { policy, delivery } = call.admitted;
  const session = await needs.store.readSession(delivery.session);
  const injected = session?.injected?.filter(({ run }) => run === delivery.run) ?? [];
  return checkRunSelection(policy, call.tool.declaration, call.identity, injected);
}

function permissionOf({ identity, tool }: NamedCall, { selection, permission }: Access): string | Ending {
  const { id } = tool.declaration;
  if (!selection.selected) {
    const reason = selection.reason === 'agent-unknown' ? 'no agent of that name is declared' : 'it did not select it';
    return ended(errorOutcome('NOT_SELECTED', { tool: id, agent: selection.agent, reason }));
  }
  if (!permission.allowed) {
    const reason = refusalReason(permission.entry, tool.declaration.privileged);
    return ended(errorOutcome('PERMISSION_DENIED', { tool: id, subject: identity.subject, reason }));
  }
  return permission.entry;
}

function refusalReason(entry: string | undefined, isPrivileged: boolean): string {
  if (entry !== undefined) return `denied by "${entry}"`;
  return isPrivileged ? 'it is privileged, and no permission names it for them' : 'no permission names them';
}

function readAuthorised(call: NamedCall, permission: string, needs: Needs): MaybePromise<IdentifiedCall | Ending> {
  return andThen(readSent(call, needs), (judged) =>
    judged.kind === 'judged' ? withArguments(call, judged, permission, needs) : judged,
  );
}

/**
 * Reads and checks the arguments in the envelope. For a resumed call they only have to match the schema, because the gate replaces them by
 * those stored with the approval.
 */
function readSent(call: NamedCall, needs: Needs): MaybePromise<JudgedArguments | Ending> {
  const { admitted, envelope, tool } = call;
  const canonical = envelope.arguments;
  const read = readArguments(canonical);
  if (!read.ok) return ended(errorOutcome('ENVELOPE_INVALID', { problem: read.problem }));
  if (admitted.delivery.resumedWith === undefined) return judgedArguments(call, read.value, canonical, needs);
  const problems = tool.validateInput(read.value);
  if (problems.length > 0) return ended(errorOutcome('ARGUMENTS_INVALID', { tool: tool.declaration.id, problems }));
  return { kind: 'judged', arguments: read.value, canonical };
}

function withArguments(
  { admitted, envelope, identity, tool }: NamedCall,
  { arguments: args, canonical }: Pick<JudgedArguments, 'arguments' | 'canonical'>,
  permission: string,
  needs: Needs,
): IdentifiedCall | Ending {
  const given = { canonical, arguments: args, setup: tool.setup };
  if (namesSecrets(given)) {
    const knows = (name: string): boolean => needs.secrets?.knows(name) === true;
    const refused = refuseSecrets({ tool: tool.declaration, policy: admitted.policy, identity, knows }, given);
    if (refused !== undefined) return ended(refused);
  }
  return { kind: 'identified', admitted, envelope, identity, tool, arguments: args, canonical, permission };
}

/** Decodes the envelope. It must agree with what the store accepted; otherwise the queue entry was not written by the accept step. */
function readEnvelope(admitted: AdmittedCall): { kind: 'read'; envelope: Envelope } | Ending {
  const { delivery } = admitted;
  if (delivery.envelope.length === 0) return ended(errorOutcome('BODY_LOST', {}, { executed: 'unknown' }));
  const decoded = decodeEnvelope(delivery.envelope);
  if (decoded.kind === 'unknown-version') {
    return ended(errorOutcome('ENVELOPE_VERSION', { version: decoded.version, known: '1' }));
  }
  if (decoded.kind === 'malformed') return ended(errorOutcome('ENVELOPE_INVALID', { problem: decoded.problem }));
  const { envelope } = decoded;
  const agrees =
    envelope.session === delivery.session &&
    envelope.run === delivery.run &&
    envelope.tool === delivery.tool &&
    bodyDigest(envelope.tool, envelope.arguments, envelope.input) === delivery.bodyDigest;
  if (!agrees) return ended(errorOutcome('ENVELOPE_INVALID', { problem: 'it is not what was accepted' }));
  return { kind: 'read', envelope };
}

/**
 * Called when the tool is unknown on this worker or has another digest. During a rolling deploy another worker may serve it: the call is
 * handed back until it reaches such a worker.
 */
async function misplaced(
  admitted: AdmittedCall,
  envelope: Envelope,
  tool: ServedTool | undefined,
  needs: Needs,
): Promise<Ending> {
  const { delivery } = admitted;
  const peers = await needs.peersFor(envelope.toolDigest);
  const pauseMs = paceHandBack(delivery.handedBack, peers);
  if (pauseMs !== undefined) {
    // Do not hold the call past its deadline: from then on any worker may end it.
    await needs.holdWithoutSlot(admitted, Math.min(pauseMs, delivery.deadline - admitted.now));
    const answer = await needs.store.abandonCall({ ...delivery, handedBack: true });
    return answer === 'abandoned' ? { kind: 'handed-back' } : { kind: 'lost' };
  }
  if (tool === undefined && peers.serving === 0) {
    const published = await needs.publishedDigest(envelope.tool);
    return published === envelope.toolDigest
      ? ended(errorOutcome('TOOL_UNSERVED', { tool: envelope.tool }))
      : ended(errorOutcome('TOOL_UNKNOWN', { tool: envelope.tool, near: needs.tools().near(envelope.tool) }));
  }
  return ended(
    errorOutcome('TOOL_STALE', { tool: envelope.tool, current: tool?.declaration.digest ?? envelope.toolDigest }),
  );
}
