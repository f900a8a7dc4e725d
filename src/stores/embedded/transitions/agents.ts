import { agentsOf, isSameAgent as isSame, reaches } from '../../../domain/identity/agent.ts';
import type { Identity } from '../../../domain/identity/session.ts';
import { agentsTag } from '../../../domain/tool/digest.ts';
import { BoundedCache } from '../../../base/bounded-cache.ts';

interface KnownIdentity {
  readonly identity: Identity;
  readonly tag: string;
}

/**
 * One cache for the process, keyed by the text of the identity. Every accept needs an identity; a session and its calls have the same text.
 */
const identities = new BoundedCache<string, KnownIdentity>(1_024);

function read(identityText: string): KnownIdentity {
  return identities.getOrMake(identityText, parse);
}

function parse(identityText: string): KnownIdentity {
  const identity = JSON.parse(identityText) as Identity;
  return { identity, tag: agentsTag(agentsOf(identity)) };
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
