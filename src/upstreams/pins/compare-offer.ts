import { canonicalJson } from '../../base/canonical-json.ts';
import type { JsonObject } from '../../base/json.ts';
import {
  DEFINITION_KINDS,
  definitionDigest,
  definitionKey,
  type UpstreamDefinition,
  type UpstreamOffer,
} from '../../domain/upstream/definition.ts';
import type { UpstreamPin, UpstreamPins } from '../../domain/upstream/pin.ts';

/** The key of what the server says about itself. It has no space, so it cannot be the key of a definition. */
export const SERVER_KEY = 'server';

export interface ComparedDefinition {
  readonly key: string;
  readonly status: 'same' | 'changed' | 'added' | 'removed';
  readonly pinned?: UpstreamPin;
  /** What the server offers now. Absent if it no longer offers the definition. */
  readonly offered?: UpstreamDefinition;
  /**
   * The server offers different definitions under this key. Which one a model would see is not known, so none of them can be accepted, and
   * the status is never `same`.
   */
  readonly isAmbiguous: boolean;
}

export interface OfferComparison {
  /** Sorted by kind, then by name. */
  readonly definitions: readonly ComparedDefinition[];
  /** The members of the server's information about itself that differ, sorted: for example `instructions` and `version`. */
  readonly server: readonly string[];
}

/**
 * Compares what a server offers with what was accepted. Only digests decide. The texts of the offer must be well formed: half a surrogate
 * pair has no canonical JSON and throws.
 */
export function compareOffer(pins: UpstreamPins | undefined, offer: UpstreamOffer): OfferComparison {
  const pinned = new Map(pins?.pins.map((pin) => [definitionKey(pin), pin]));
  const offered = new Map<string, UpstreamDefinition[]>();
  for (const definition of offer.definitions) {
    const key = definitionKey(definition);
    const others = offered.get(key);
    if (others === undefined) offered.set(key, [definition]);
    else others.push(definition);
  }
  const known = [...pinned.values(), ...offer.definitions].toSorted(compareDefinitions);
  const keys = new Set(known.map(definitionKey));
  return {
    definitions: Array.from(keys, (key) => compareOne(key, pinned.get(key), offered.get(key) ?? [])),
    server: changedMembers(pins?.server ?? {}, offer.server),
  };
}

function compareOne(
  key: string,
  pinned: UpstreamPin | undefined,
  offered: readonly UpstreamDefinition[],
): ComparedDefinition {
  const [first] = offered;
  if (first === undefined) return { key, status: 'removed', pinned: pinned!, isAmbiguous: false };
  const digests = new Set(offered.map(definitionDigest));
  const isAmbiguous = digests.size > 1;
  if (pinned === undefined) return { key, status: 'added', offered: first, isAmbiguous };
  const isSame = !isAmbiguous && digests.has(pinned.digest);
  return { key, status: isSame ? 'same' : 'changed', pinned, offered: first, isAmbiguous };
}

/** Orders definitions by kind, then by the code units of the name: the same on every machine, whatever its language. */
export function compareDefinitions(
  one: Pick<UpstreamDefinition, 'kind' | 'name'>,
  other: Pick<UpstreamDefinition, 'kind' | 'name'>,
): number {
  const byKind = DEFINITION_KINDS.indexOf(one.kind) - DEFINITION_KINDS.indexOf(other.kind);
  if (byKind !== 0 || one.name === other.name) return byKind;
  return one.name < other.name ? -1 : 1;
}

/** The names of the members that one object has and the other has not, or has with another value; sorted. */
export function changedMembers(before: JsonObject, after: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const textOf = (object: JsonObject, name: string): string | undefined =>
    Object.hasOwn(object, name) ? canonicalJson(object[name]) : undefined;
  return [...names].filter((name) => textOf(before, name) !== textOf(after, name)).toSorted();
}
