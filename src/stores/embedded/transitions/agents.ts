import { agentsOf, isSameAgent as isSame, reaches } from '../../../domain/identity/agent.ts';
import type { Identity } from '../../../domain/identity/session.ts';
import { agentsTag } from '../../../domain/tool/digest.ts';

interface KnownIdentity {
  readonly identity: Identity;
  readonly tag: string;
}

const MAX_KNOWN = 1_024;
const known = new Map<string, KnownIdentity>();

/** Cached, because every accept needs it: sessions and their calls have the same text. */
function read(identityText: string): KnownIdentity {
  const found = known.get(identityText);
  if (found !== undefined) return found;
  const identity = JSON.parse(identityText) as Identity;
  const made = { identity, tag: agentsTag(agentsOf(identity)) };
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(identityText, made);
  return made;
}

/** Returns the tag that call ids of these agents contain. */
export function tagOf(identityText: string): string {
  return read(identityText).tag;
}

/** True for the same agent, acting for the same agents. */
export function isSameAgent(one: string, other: string): boolean {
  return one === other || isSame(read(one).identity, read(other).identity);
}

/** Whether a session with the identity `viewer` may see a call with the identity `maker`. */
export function mayReach(viewer: string, maker: string): boolean {
  return reaches(read(viewer).identity, read(maker).identity);
}
