import type {
  Approval,
  ApprovalDecision,
  ApprovalQuestion,
  ApprovalState,
  CallbackState,
  GrantId,
  Principal,
  Resolution,
  Vote,
} from '../../domain/policy/approval.ts';
import type { WorkerId } from '../../domain/identity/ids.ts';

/** The fields of an approval's hash that are read, in this order. See `functions/ask-approval.lua`. */
export const APPROVAL_FIELDS = [
  'question',
  'state',
  'requestedAt',
  'expiresAt',
  'votes',
  'resolvedAt',
  'resolution',
  'edited',
  'grant',
  'askedBy',
  'mayHaveRun',
  'callback',
  'revealedBy',
] as const;

/** Returns undefined if the question or the state is missing: no function of the store has written such a hash. */
export function decodeApproval(values: readonly (string | null)[]): Approval | undefined {
  const field = (name: (typeof APPROVAL_FIELDS)[number]): string | undefined =>
    values[APPROVAL_FIELDS.indexOf(name)] ?? undefined;
  const [question, state] = [field('question'), field('state')];
  if (question === undefined || state === undefined) return undefined;
  const [resolvedAt, resolution, editedArguments] = [field('resolvedAt'), field('resolution'), field('edited')];
  const grant = field('grant');
  return {
    question: JSON.parse(question) as ApprovalQuestion,
    state: state as ApprovalState,
    requestedAt: Number(field('requestedAt')),
    expiresAt: Number(field('expiresAt')),
    votes: decodeVotes(field('votes') ?? ''),
    revealedBy: linesOf(field('revealedBy') ?? '').map(toPrincipal),
    ...(resolvedAt === undefined ? {} : { resolvedAt: Number(resolvedAt) }),
    ...(resolution === undefined ? {} : { resolution: resolution as Resolution }),
    ...(editedArguments === undefined ? {} : { editedArguments }),
    ...(grant === undefined ? {} : { grant: grant as GrantId }),
    askedBy: field('askedBy') as WorkerId,
    mayHaveRun: field('mayHaveRun') === '1',
    callback: field('callback') as CallbackState,
  };
}

/** Writes a principal without spaces. The same principal always gives the same text. */
export function principalText({ kind, name }: Principal): string {
  return `${kind}:${encodeURIComponent(name)}`;
}

function toPrincipal(text: string): Principal {
  const colon = text.indexOf(':');
  return { kind: text.slice(0, colon) as Principal['kind'], name: decodeURIComponent(text.slice(colon + 1)) };
}

/** Each line holds the decision, the time, the principal, the binding that was agreed to, and the comment as JSON text. */
function decodeVotes(text: string): Vote[] {
  return linesOf(text).map((line) => {
    const [decision, at, by, binding, ...rest] = line.split(' ');
    const comment = rest.join(' ');
    return {
      by: toPrincipal(by!),
      decision: decision as ApprovalDecision,
      at: Number(at),
      binding: binding!,
      ...(comment === '' ? {} : { comment: JSON.parse(comment) as string }),
    };
  });
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
