import { shorten } from '../../base/cut-text.ts';
import { isJsonObject } from '../../base/json.ts';
import { definitionKey, type UpstreamDefinition, type UpstreamOffer } from '../../domain/upstream/definition.ts';
import { SERVER_KEY } from './compare-offer.ts';
import { countHidden, showText } from './hidden-characters.ts';
import { findInstructions, foldText } from './instruction-rules.ts';
import { findMixedScripts, KnownNames, skeletonOf, type OtherServer } from './name-rules.ts';
import { findContradiction } from './name-words.ts';
import { placesOf, type OfferPlace } from './offer-texts.ts';
import { findConcealment, findRequest } from './schema-rules.ts';

export const SUSPICION_KINDS = [
  'instruction',
  'hidden',
  'mixed-scripts',
  'foreign-tool',
  'look-alike',
  'concealed-argument',
  'false-claim',
  'asks-for-secrets',
  'unread',
] as const;
export type SuspicionKind = (typeof SUSPICION_KINDS)[number];

/** A text that a person should read before accepting a definition. It may be harmless; its absence proves nothing. */
export interface Suspicion {
  readonly kind: SuspicionKind;
  /** The key of the definition, or `SERVER_KEY`. */
  readonly key: string;
  /** A JSON pointer in which hidden characters are escaped and long names are cut. */
  readonly pointer: string;
  /** A short excerpt, escaped. */
  readonly text: string;
  /** One sentence. */
  readonly why: string;
}

const MAX_TEXT = 120;
/** Per definition and kind, so that many harmless places cannot crowd out another kind. */
const MAX_PER_KIND = 8;
/** Joins parts of one emoji, or shapes letters of scripts that need it. */
const USUAL_JOINERS =
  /(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier}){0,2})\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Sinhala}])[\u200c\u200d]|(?<=[\p{Emoji}\p{So}])\ufe0f/gu;
/** Blanks of usual typography: no-break spaces, and the space between Chinese or Japanese characters. */
const USUAL_BLANKS = /[\u00a0\u202f\u3000]/gu;

/** Finds what a person should look at in an offer. `others` are the other servers of the deployment. */
export function findSuspicions(offer: UpstreamOffer, others: readonly OtherServer[]): Suspicion[] {
  const names = offer.definitions.map(({ name }) => name);
  const known = new KnownNames(others);
  const ownNames = new Set(names.map((name) => name.toLowerCase()));
  const find = (key: string, body: UpstreamDefinition['body'], more: Suspicion[], ownTools: ReadonlySet<string>) => {
    const { places, isComplete } = placesOf(body);
    const found = [...more, ...places.flatMap((place) => inPlace(key, place, known, ownNames, ownTools))];
    const shown = SUSPICION_KINDS.flatMap((kind) => found.filter((each) => each.kind === kind).slice(0, MAX_PER_KIND));
    if (!isComplete)
      shown.push(suspicion('unread', key, '', '', 'It is too large or too deep to be searched as a whole.'));
    if (shown.length < found.length) {
      const why = `It has ${found.length} suspicious places. Only ${MAX_PER_KIND} of each kind are listed.`;
      shown.push(suspicion('unread', key, '', '', why));
    }
    return shown;
  };
  const seen = new Map<string, string>();
  return [
    ...find(SERVER_KEY, offer.server, [], new Set(names)),
    ...offer.definitions.flatMap((definition) => {
      const more = [...aboutName(definition, known, seen), ...aboutClaims(definition), ...aboutPrompt(definition)];
      return find(definitionKey(definition), definition.body, more, new Set());
    }),
  ];
}

function suspicion(kind: SuspicionKind, key: string, pointer: string, text: string, why: string): Suspicion {
  return { kind, key, pointer: showText(pointer), text: shorten(showText(shorten(text, MAX_TEXT)), 2 * MAX_TEXT), why };
}

function inPlace(
  key: string,
  place: OfferPlace,
  known: KnownNames,
  ownNames: ReadonlySet<string>,
  ownTools: ReadonlySet<string>,
): Suspicion[] {
  const { pointer } = place;
  if (place.kind === 'schema') return aboutSchema(key, place);
  const { text } = place;
  const found: Suspicion[] = [];
  const hidden = countHidden(text.replaceAll(USUAL_JOINERS, '').replaceAll(USUAL_BLANKS, ' '));
  if (hidden.length > 0) {
    const counts = hidden.map(({ what, count }) => `${what}${count === 1 ? '' : ` (${count} times)`}`).join(', ');
    found.push(suspicion('hidden', key, pointer, excerptAtHidden(text), `It has ${counts}, which people do not see.`));
  }
  const mixed = findMixedScripts(text);
  if (mixed !== undefined) {
    found.push(suspicion('mixed-scripts', key, pointer, mixed, 'A word has letters of several alphabets.'));
  }
  const folded = foldText(text);
  if (text.includes('\u001b[') || text.includes('\u009b')) {
    found.push(
      suspicion('instruction', key, pointer, excerptAtHidden(text), 'It has a control sequence for terminals.'),
    );
  }
  for (const { why, excerpt } of findInstructions(folded, ownTools)) {
    found.push(suspicion('instruction', key, pointer, excerpt, why));
  }
  const mention = known.findMention(folded, ownNames);
  if (mention !== undefined) {
    const why = `It names a tool of another server: ${shorten(showText(mention.name), MAX_TEXT)} of ${mention.id}.`;
    found.push(suspicion('foreign-tool', key, pointer, mention.name, why));
  }
  return found;
}

const HIDDEN_CONTEXT = 30;

/** The text around its first hidden character. */
function excerptAtHidden(text: string): string {
  let start = 0;
  for (const character of text) {
    if (countHidden(character).length > 0) break;
    start += character.length;
  }
  return text.slice(Math.max(0, start - HIDDEN_CONTEXT), start + HIDDEN_CONTEXT);
}

function aboutSchema(key: string, { pointer, schema, argument }: Extract<OfferPlace, { kind: 'schema' }>): Suspicion[] {
  // A schema of results describes what the server answers. No caller fills it in.
  if (!pointer.startsWith('/inputSchema')) return [];
  const found: Suspicion[] = [];
  const mark = findConcealment(schema);
  if (mark !== undefined) {
    const why = 'The server marks an argument as secret, so an approver would not see its value.';
    found.push(suspicion('concealed-argument', key, `${pointer}/${mark}`, mark, why));
  }
  const request = argument === undefined ? undefined : findRequest(argument, schema);
  if (request !== undefined) found.push(suspicion('asks-for-secrets', key, pointer, argument!, request));
  return found;
}

function aboutPrompt({ kind, name, body }: UpstreamDefinition): Suspicion[] {
  const list = kind === 'prompt' && Array.isArray(body['arguments']) ? body['arguments'] : [];
  return list.flatMap((argument, index) => {
    if (!isJsonObject(argument) || typeof argument['name'] !== 'string') return [];
    const why = findRequest(argument['name'], argument);
    const key = definitionKey({ kind, name });
    return why === undefined ? [] : [suspicion('asks-for-secrets', key, `/arguments/${index}`, argument['name'], why)];
  });
}

function aboutClaims(definition: UpstreamDefinition): Suspicion[] {
  const found = definition.kind === 'tool' ? findContradiction(definition.body) : undefined;
  if (found === undefined) return [];
  const why = `The annotations say that the tool is harmless, but its ${found.member} says "${found.word}".`;
  return [suspicion('false-claim', definitionKey(definition), '/annotations', found.word, why)];
}

function aboutName(definition: UpstreamDefinition, known: KnownNames, seen: Map<string, string>): Suspicion[] {
  const { kind, name } = definition;
  if (kind !== 'tool' && kind !== 'prompt') return [];
  const key = definitionKey(definition);
  const other = known.findLookAlike(name);
  const skeleton = `${kind} ${skeletonOf(name)}`;
  const own = seen.get(skeleton);
  seen.set(skeleton, own ?? name);
  if (other !== undefined) {
    const why = `The name looks like that of another server: ${shorten(showText(other.name), MAX_TEXT)} of ${other.id}.`;
    return [suspicion('look-alike', key, '/name', name, why)];
  }
  if (own === undefined || own === name) return [];
  const why = `The name looks like that of another tool of this server: ${shorten(showText(own), MAX_TEXT)}.`;
  return [suspicion('look-alike', key, '/name', name, why)];
}
