import { shorten } from '../../base/cut-text.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { definitionDigest, type UpstreamOffer } from '../../domain/upstream/definition.ts';
import type { UpstreamPin, UpstreamPins } from '../../domain/upstream/pin.ts';
import { EFFECTS, type Effect } from '../../domain/tool/tool.ts';
import { compareOffer, SERVER_KEY, type ComparedDefinition } from './compare-offer.ts';
import { showText } from './hidden-characters.ts';
import { suggestEffect } from './suggest-effect.ts';

/** What an operator accepts of an offer. */
export interface AcceptChoice {
  /** Everything that is offered; pins of what is no longer offered are dropped. */
  readonly all?: boolean;
  /** Keys of definitions, or `SERVER_KEY` for what the server says about itself. */
  readonly keys?: readonly string[];
  /** Effects by the key of a definition. They win over the pinned and the suggested effect. */
  readonly effects?: Readonly<Record<string, Effect>>;
}

export interface AcceptedOffer {
  readonly next: UpstreamPins;
  /** What changed, for the audit: for example `tool write_file accepted as unsafe`. */
  readonly changes: readonly string[];
}

const MAX_KEY = 120;
const MAX_NAMED = 5;

/**
 * The pins after an operator accepted an offer, or parts of it. Refuses keys that the server does not offer, and keys for which it offers
 * several definitions. A definition that is no longer offered is dropped only if it is named, or with `all`.
 */
export function accept(pins: UpstreamPins | undefined, offer: UpstreamOffer, choice: AcceptChoice): AcceptedOffer {
  const { definitions, server } = compareOffer(pins, offer);
  const chosen = new Set(choice.all === true ? [SERVER_KEY, ...definitions.map(({ key }) => key)] : choice.keys);
  refuseUnknown(definitions, chosen, choice);
  const next: UpstreamPin[] = [];
  const changes: string[] = [];
  for (const compared of definitions) {
    const pin = chosen.has(compared.key) ? pinOf(compared, choice) : compared.pinned;
    if (pin !== undefined) next.push(pin);
    const change = describe(compared, pin);
    if (change !== undefined) changes.push(`${nameOf(compared.key)} ${change}`);
  }
  const takesServer = chosen.has(SERVER_KEY);
  if (takesServer && server.length > 0) changes.push(`server information accepted: ${server.map(nameOf).join(', ')}`);
  return { next: { server: takesServer ? offer.server : (pins?.server ?? nameOfServer(offer)), pins: next }, changes };
}

/** The name and version of a server that is accepted for the first time: its module needs them. Its instructions are accepted only by name. */
function nameOfServer({ server }: UpstreamOffer): UpstreamPins['server'] {
  const { name, version } = server;
  return { ...(name === undefined ? {} : { name }), ...(version === undefined ? {} : { version }) };
}

/** Fails before anything is accepted: half of what an operator asked for could be the dangerous half. */
function refuseUnknown(
  definitions: readonly ComparedDefinition[],
  chosen: ReadonlySet<string>,
  { keys = [], effects = {} }: AcceptChoice,
): void {
  const usable = new Set([SERVER_KEY, ...definitions.filter(({ isAmbiguous }) => !isAmbiguous).map(({ key }) => key)]);
  const offered = new Set(definitions.filter(({ offered }) => offered !== undefined).map(({ key }) => key));
  const wrong = [...chosen, ...keys].filter((key) => !usable.has(key));
  // An effect for something that is not accepted is a mistyped key; the definition that was meant would get another effect.
  const idle = Object.entries(effects).filter(
    ([key, effect]) => !chosen.has(key) || !offered.has(key) || !EFFECTS.includes(effect),
  );
  const unknown = [...new Set([...wrong, ...idle.map(([key]) => key)])];
  if (unknown.length === 0) return;
  const names = unknown.slice(0, MAX_NAMED).map(nameOf);
  if (unknown.length > MAX_NAMED) names.push(`and ${unknown.length - MAX_NAMED} more`);
  throw planeError('UPSTREAM_DEFINITION_UNKNOWN', { definitions: names });
}

function pinOf({ key, status, pinned, offered }: ComparedDefinition, choice: AcceptChoice): UpstreamPin | undefined {
  if (offered === undefined) return undefined;
  const named = choice.effects !== undefined && Object.hasOwn(choice.effects, key) ? choice.effects[key] : undefined;
  // Accepting a definition again must not undo what the operator once decided about its effect.
  if (status === 'same') return named === undefined ? pinned : { ...pinned!, effect: named };
  const { kind, name, body } = offered;
  const suggested = kind === 'tool' ? suggestEffect(body).effect : 'read';
  const effect = named ?? moreCareful(suggested, pinned?.effect ?? suggested);
  return { kind, name, body, digest: definitionDigest(offered), effect };
}

/** The attack: a new version of an `unsafe` tool has the annotation `readOnlyHint`, and would be started twice. */
function moreCareful(one: Effect, other: Effect): Effect {
  return EFFECTS.indexOf(one) > EFFECTS.indexOf(other) ? one : other;
}

function describe({ status, pinned }: ComparedDefinition, pin: UpstreamPin | undefined): string | undefined {
  if (pin === undefined) return pinned === undefined ? undefined : 'dropped';
  if (pinned === undefined) return `accepted as ${pin.effect}`;
  if (pin === pinned) return undefined;
  const became = pin.effect === pinned.effect ? '' : `${pinned.effect} is now ${pin.effect}`;
  if (status === 'same') return became === '' ? undefined : `effect changed: ${became}`;
  return became === '' ? `changed, ${pin.effect}` : `changed, ${became}`;
}

function nameOf(key: string): string {
  return shorten(showText(key).replaceAll('\n', '\\u{a}'), MAX_KEY);
}
