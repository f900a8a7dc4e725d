import { canonicalJson } from '../../base/canonical-json.ts';
import { endOf, startOf } from '../../base/cut-text.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { escapeStep } from '../../base/json-pointer.ts';
import { definitionKey, type UpstreamDefinition } from '../../domain/upstream/definition.ts';
import { diffLists, diffWords, newSteps, splitWords, type DiffSteps, type Segment } from './diff-words.ts';
import { countHidden, showText, type HiddenCount } from './hidden-characters.ts';
import { ValueIds } from './value-ids.ts';

/** A part of a member's value, ready to be shown: hidden characters are escaped. */
export interface ShownSegment {
  readonly kind: 'kept' | 'removed' | 'added';
  readonly text: string;
  /** Present if the middle of unchanged text is left out: it stands between `text` and `textAfter`. */
  readonly skippedWords?: number;
  readonly textAfter?: string;
}

export interface MemberChange {
  readonly kind: 'changed' | 'added' | 'removed';
  /** A JSON pointer in which hidden characters are escaped and long names are cut. Only for people. */
  readonly pointer: string;
  readonly segments: readonly ShownSegment[];
  /** The hidden characters in the new value and its pointer; for a removed member, in the old value. */
  readonly hidden: readonly HiddenCount[];
}

export interface DefinitionChange {
  readonly key: string;
  readonly kind: 'changed' | 'added' | 'removed';
  readonly members: readonly MemberChange[];
  /** Why not everything is shown. Nothing may be accepted unseen, so show this with the members. */
  readonly problem?: string;
}

/** @internal */
export const MAX_DEFINITION_BYTES = 256 * 1024;
/** @internal */
export const MAX_MEMBERS = 2000;
/** Deeper parts are compared as one text. */
const MAX_DEPTH = 64;
/** Words of unchanged text next to a change, with the blanks between them. */
const CONTEXT_TOKENS = 16;
const CONTEXT_CHARACTERS = 160;
const MAX_NAME_IN_POINTER = 100;
const WORD = /[\p{L}\p{N}]/u;

/** Describes the difference of two definitions with the same key, word by word. Without `before` everything is added. */
export function describeChange(
  before: UpstreamDefinition | undefined,
  after: UpstreamDefinition | undefined,
  steps: DiffSteps = newSteps(),
): DefinitionChange {
  const known = after ?? before;
  if (known === undefined) throw new TypeError('There is no definition to describe.');
  const change = { key: definitionKey(known), kind: kindOf(before, after) };
  const bytes = Math.max(...[before, after].map((each) => Buffer.byteLength(canonicalJson(each?.body ?? {}))));
  if (bytes > MAX_DEFINITION_BYTES) {
    const problem = `the definition has ${bytes} bytes, and only differences up to ${MAX_DEFINITION_BYTES} bytes are shown`;
    return { ...change, members: [], problem };
  }
  const walk = new ChangeWalk(steps);
  walk.compare('', 0, before?.body, after?.body);
  if (walk.omitted === 0) return { ...change, members: walk.members };
  return { ...change, members: walk.members, problem: `${walk.omitted} more changed members are not shown` };
}

function kindOf(before: unknown, after: unknown): 'changed' | 'added' | 'removed' {
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'changed';
}

type Maybe = JsonValue | undefined;

class ChangeWalk {
  readonly members: MemberChange[] = [];
  omitted = 0;
  readonly #steps: DiffSteps;
  readonly #ids = new ValueIds();

  constructor(steps: DiffSteps) {
    this.#steps = steps;
  }

  compare(pointer: string, depth: number, before: Maybe, after: Maybe): void {
    if (before !== undefined && after !== undefined && this.#ids.idOf(before) === this.#ids.idOf(after)) return;
    const values = [before, after].filter((value) => value !== undefined);
    const canEnter = depth < MAX_DEPTH && values.some((value) => !isEmpty(value));
    if (canEnter && values.every(isJsonObject)) return this.#compareObjects(pointer, depth, before, after);
    const isList = values.every(Array.isArray) && !values.flat().every(isScalar);
    if (canEnter && isList) return this.#compareLists(pointer, depth, before, after);
    this.#add(pointer, before, after);
  }

  #compareObjects(pointer: string, depth: number, before: Maybe, after: Maybe): void {
    const [old, now] = [before, after].map((value) => (isJsonObject(value) ? value : {}));
    const names = new Set([...Object.keys(old!), ...Object.keys(now!)]);
    for (const name of [...names].toSorted()) {
      const [one, other] = [old, now].map((object) => (Object.hasOwn(object!, name) ? object![name] : undefined));
      this.compare(`${pointer}/${shortStep(name)}`, depth + 1, one, other);
    }
  }

  /** Equal elements are matched first, so an inserted element is one addition and not a change of all that follow. */
  #compareLists(pointer: string, depth: number, before: Maybe, after: Maybe): void {
    const [old, now] = [before, after].map((value) => (Array.isArray(value) ? value : []));
    const idsOf = (list: readonly JsonValue[]): string[] => list.map((value) => this.#ids.idOf(value));
    for (const run of diffLists(idsOf(old!), idsOf(now!), this.#steps)) {
      if (run.isKept) continue;
      const [removed, added] = [old!.slice(...run.before), now!.slice(...run.after)];
      for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
        const place = index < added.length ? run.after[0] + index : run.before[0] + index;
        this.compare(`${pointer}/${place}`, depth + 1, removed[index], added[index]);
      }
    }
  }

  #add(pointer: string, before: Maybe, after: Maybe): void {
    if (this.members.length >= MAX_MEMBERS) {
      this.omitted += 1;
      return;
    }
    const [old, now] = [before, after].map(wordsOf);
    const segments = diffWords(old!, now!, this.#steps);
    this.members.push({
      kind: kindOf(before, after),
      pointer: showText(pointer),
      segments: segments.map((segment, index) => shown(segment, index === 0, index === segments.length - 1)),
      hidden: countHidden(pointer + (after === undefined ? old! : now!).join('')),
    });
  }
}

function isEmpty(value: JsonValue): boolean {
  return isScalar(value) || Object.keys(value).length === 0;
}

function isScalar(value: JsonValue): value is null | boolean | number | string {
  return typeof value !== 'object' || value === null;
}

function shortStep(name: string): string {
  const step = escapeStep(name);
  return step.length <= MAX_NAME_IN_POINTER ? step : `${startOf(step, MAX_NAME_IN_POINTER - 1)}…`;
}

/** The words of a value. Texts have quotes, so that `5` and `"5"` differ. */
function wordsOf(value: Maybe): string[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return ['"', ...splitWords(value), '"'];
  if (!Array.isArray(value) || !value.every(isScalar)) return [canonicalJson(value)];
  return ['[ ', ...value.map((each) => `${canonicalJson(each)} `), ']'];
}

/** Shortens unchanged text to the words next to the changes. */
function shown({ kind, words }: Segment, isFirst: boolean, isLast: boolean): ShownSegment {
  const contexts = (isFirst ? 0 : CONTEXT_TOKENS) + (isLast ? 0 : CONTEXT_TOKENS);
  const text = words.join('');
  const isShort = words.length <= contexts + CONTEXT_TOKENS && text.length <= 4 * CONTEXT_CHARACTERS;
  if (kind !== 'kept' || isShort) return { kind, text: showText(text) };
  const head = isFirst ? [] : words.slice(0, CONTEXT_TOKENS);
  const tail = isLast ? [] : words.slice(Math.max(head.length, words.length - CONTEXT_TOKENS));
  const skipped = words.slice(head.length, words.length - tail.length).filter((word) => WORD.test(word));
  return {
    kind,
    text: showText(startOf(head.join(''), CONTEXT_CHARACTERS)),
    skippedWords: Math.max(skipped.length, 1),
    textAfter: showText(endOf(tail.join(''), CONTEXT_CHARACTERS)),
  };
}
